-- One row is a definition that was offered in the conversation in which the call $call was made, or that one of its
-- calls was made under (used); the definitions seen last come last.
with
meant as (
    select conversation_uid from tool_calls where cast(call_uid as varchar(36)) = $call
),
used as (
    select distinct t.tool_definition as digest
    from tool_calls as t
    join meant as m on m.conversation_uid = t.conversation_uid
    where t.tool_definition is not null
),
offered as (
    select unnest(c.offered) as digest
    from conversations as c
    join meant as m on m.conversation_uid = c.conversation_uid
),
both_kinds as (
    select digest from used
    union
    select digest from offered
)
select d.name, d.description, d.parameters, d.digest in (select digest from used) as used
from both_kinds as b
join tool_definitions as d on d.digest = b.digest
order by d.digest in (select digest from used), d.last_at nulls first, d.name, d.digest
