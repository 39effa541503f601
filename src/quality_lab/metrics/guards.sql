-- One row is a guard's row: when it was, where, and what the guard said, as JSON text.
-- steps: picked
with
guard_rows as (
    select *
    from picked
    where outcome = 'guard'
)
select cast(conversation_uid as varchar(36)) as conversation_uid, result, created_at
from guard_rows
