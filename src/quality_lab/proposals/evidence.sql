-- One row is a label of the newest $most of its kind on the calls of one tool and source, with the call that it is
-- about; group_key names the kind, and age is 1 for its newest. No call that it is about was made before
-- $called_from, which spares reading the long texts of those.
-- steps: picked, labels, standing, placed
with
aged as (
    select feedback_uid, group_key,
           row_number() over (partition by group_key order by labelled_at desc nulls last, feedback_uid) as age
    from placed
)
select a.group_key, a.age,
       coalesce(t.tenant, l.tenant) as tenant, coalesce(t.tool_name, l.tool_name, '') as tool_name,
       coalesce(t.source, l.source) as source, l.label, l.feedback_uid, l.call_uid, l.author, l.note,
       l.created_at as labelled_at, l.expected_tool, l.expected_arguments,
       t.conversation_id, t.arguments, t.arguments_state, t.result, t.outcome, t.error_text,
       t.created_at as called_at, f.path as file, t.line
from aged as a
join feedback as l on l.feedback_uid = a.feedback_uid
left join (select * from tool_calls where $called_from is null or created_at >= $called_from) as t
    on t.call_uid = l.call_uid
left join sources as f on f.source_id = t.source_id
where a.age <= $most
