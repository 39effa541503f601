-- One row is a label on a call of a tool and source that a proposal is about, with the call: the newest $most labels
-- of each kind. Labels of other kinds are there for comparison.
-- steps: picked, labels, judged, standing
with
placed as (
    select l.feedback_uid, l.call_uid, l.label, l.author, l.note, l.created_at as labelled_at, l.expected_tool,
           l.expected_arguments, coalesce(c.tenant, l.tenant) as tenant,
           coalesce(c.tool_name, l.tool_name, '') as tool_name, coalesce(c.source, l.source) as source
    from standing as l
    left join picked as c on c.call_uid = l.call_uid
    where l.label is not null
      and l.asked_for
      and (not $picks_calls or c.call_uid is not null)
),
wanted as (
    select *, row_number() over (partition by tenant, tool_name, source, label
                                 order by labelled_at desc nulls last, feedback_uid) as age
    from placed
    where array_contains($pairs, tenant || chr(31) || tool_name || chr(31) || coalesce(source, ''))
)
select w.tenant, w.tool_name, w.source, w.label, cast(w.call_uid as varchar(36)) as call_uid, w.author, w.note,
       w.labelled_at, w.expected_tool, w.expected_arguments, w.age,
       t.conversation_id, t.arguments, t.arguments_state, t.result, t.outcome, t.error_text,
       t.created_at as called_at, f.path as file, t.line
from wanted as w
left join tool_calls as t on t.call_uid = w.call_uid
left join sources as f on f.source_id = t.source_id
where w.age <= $most
order by w.tenant, w.tool_name, w.source, w.label, w.age
