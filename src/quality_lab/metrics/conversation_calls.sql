-- One row is a call of the conversation in which the call $call was made, that call among them, in no order.
select cast(t.call_uid as varchar(36)) as call_uid, t.tenant, t.key_space, t.key, t.conversation_id, t.turn, t.cycle,
       t.call_index, t.index_in_cycle, t.message_position, t.call_id, t.tool_name, t.arguments, t.arguments_state,
       t.result, t.result_state, t.is_error, t.outcome, t.actor, t.source, t.tool_definition, t.created_at,
       t.latency_ms, t.in_trace, t.contact_id, t.message_id, t.outbound_id
from tool_calls as t
where t.conversation_uid in (select conversation_uid from tool_calls where cast(call_uid as varchar(36)) = $call)
