-- One row is a label with the call that it is about, of the labels named by $labels_wanted.
select coalesce(t.tenant, l.tenant) as tenant, coalesce(t.tool_name, l.tool_name, '') as tool_name,
       coalesce(t.source, l.source) as source, l.label, l.feedback_uid, l.call_uid, l.author, l.note,
       l.created_at as labelled_at, l.expected_tool, l.expected_arguments,
       t.conversation_id, t.arguments, t.arguments_state, t.result, t.outcome, t.error_text,
       t.created_at as called_at, f.path as file, t.line
from feedback as l
left join tool_calls as t on t.call_uid = l.call_uid
left join sources as f on f.source_id = t.source_id
where array_contains($labels_wanted, l.feedback_uid)
