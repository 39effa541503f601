-- One row is the call with this uid: the conversation that it belongs to.
select cast(call_uid as varchar(36)) as call_uid, cast(conversation_uid as varchar(36)) as conversation_uid,
       tool_name
from tool_calls
where cast(call_uid as varchar(36)) = $call
