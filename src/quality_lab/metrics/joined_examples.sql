-- One row is a label of upstream's together with the call that it is about; the newest labels first, at most $limit.
-- steps: picked
with
upstream_labels as (
    select key, call_uid, author, label, note, created_at
    from feedback
    where target_level = 'call'
      and key_space = 'quality_lab'
      and label is not null
      and array_contains($author_kinds, author_kind)
      and array_contains($labels, label)
)
select l.key as feedback_id, l.author as admin_id, l.label, l.note, l.created_at as labelled_at,
       c.key as call_id, c.conversation_id, c.contact_id, c.message_id, c.outbound_id, c.source, c.tool_name,
       c.arguments, c.arguments_state, c.result, c.is_error, c.cycle, c.call_index, c.latency_ms, c.created_at as called_at
from upstream_labels as l
join picked as c on c.call_uid = l.call_uid
where c.key_space = 'quality_lab'
order by l.created_at desc nulls last, length(l.key) desc, l.key desc
limit $limit
