-- One row is a call with one of the labels that stand on it, or with none; the newest calls first, at most $limit of
-- them (null: all).
-- steps: picked, labels, judged, standing, listed
with
wanted as (
    select *
    from listed
    order by created_at desc nulls last, conversation_id, turn, message_position, call_index, index_in_cycle, call_uid
    limit $limit
)
select w.call_uid, w.tenant, w.conversation_id, w.conversation_uid, w.turn, w.cycle, w.call_index, w.index_in_cycle,
       w.message_position, w.tool_name, w.tool_server, w.wrapped_tool, w.arguments, w.arguments_state, w.result,
       w.result_state, w.outcome, w.gate_reason, w.is_error, w.error_kind, w.error_text, w.actor, w.source, w.style,
       w.model, w.created_at, w.latency_ms, f.path as file, w.line,
       l.feedback_uid, coalesce(l.label, l.label_raw) as label, l.author, l.author_kind, l.note,
       l.created_at as labelled_at, l.expected_tool
from wanted as w
left join standing as l on l.call_uid = w.call_uid
left join sources as f on f.source_id = w.source_id
order by w.created_at desc nulls last, w.conversation_id, w.turn, w.message_position, w.call_index, w.index_in_cycle,
         w.call_uid, l.created_at nulls first, l.feedback_uid
