-- guard_texts: one row is a guard's row with its reason and the text that it stopped.
-- steps: picked
with
guard_rows as (
    select call_uid, conversation_uid, created_at, get_json_object(result, '$.reasons[0]') as reason,
           get_json_object(arguments, '$.originalText') as text
    from picked
    where outcome = 'guard'
)
select * from guard_rows
order by created_at nulls first, call_uid
