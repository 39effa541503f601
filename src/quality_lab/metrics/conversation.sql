-- One row is something that happened in a conversation: a message, a call, or a label on a call, a turn or the whole.
-- The columns from position to level place it; happened_at is when the thing that it hangs on happened.
with
meant as (
    select conversation_uid
    from (
        select conversation_uid, tenant from tool_calls
        where conversation_id = $conversation or cast(conversation_uid as varchar(36)) = $conversation
        union
        select conversation_uid, tenant from conversations
        where conversation_id = $conversation or cast(conversation_uid as varchar(36)) = $conversation
    ) as known
    where cardinality($tenants) = 0 or array_contains($tenants, tenant)
),
happened as (
    select m.conversation_uid, m.position, m.created_at as happened_at, 0 as turn, -1 as call_index, 0 as level,
           'message' as kind, m.role as who, m.text, null as call_uid, null as tool_name, null as arguments,
           null as result, null as outcome, null as gate_reason, null as error_text, null as label, null as target,
           m.created_at, m.source_id, m.line
    from messages as m
    union all
    select t.conversation_uid, t.message_position, t.created_at, coalesce(t.turn, 0),
           coalesce(t.call_index, t.index_in_cycle, 0), 1, 'call', t.actor, null, cast(t.call_uid as varchar(36)),
           t.tool_name, t.arguments, t.result, t.outcome, t.gate_reason, t.error_text, null, null,
           t.created_at, t.source_id, t.line
    from tool_calls as t
    union all
    select coalesce(t.conversation_uid, l.conversation_uid), t.message_position, t.created_at,
           coalesce(t.turn, l.turn, 0), coalesce(t.call_index, t.index_in_cycle, 0),
           case when t.call_uid is null then 3 else 2 end, 'label', l.author, l.note,
           cast(l.call_uid as varchar(36)), coalesce(t.tool_name, l.tool_name), null, l.score, null, null, null,
           coalesce(l.label, l.label_raw, l.name), l.target_level, l.created_at, l.source_id, l.line
    from feedback as l
    left join tool_calls as t on t.call_uid = l.call_uid
    where l.key_space <> 'quality_lab'
       or 'quality_lab/' || l.tenant || '/' || l.key not in (select retracts from retractions)
)
select cast(h.conversation_uid as varchar(36)) as conversation_uid, h.position, h.happened_at, h.turn, h.call_index,
       h.level, h.kind, h.who, h.text, h.call_uid, h.tool_name, h.arguments, h.result, h.outcome, h.gate_reason,
       h.error_text, h.label, h.target, h.created_at, f.path as file, h.line
from happened as h
join meant as m on m.conversation_uid = h.conversation_uid
left join sources as f on f.source_id = h.source_id
