-- One row is a call whose uid begins so (two rows where the beginning is not enough): the conversation it belongs to.
select cast(call_uid as varchar(36)) as call_uid, cast(conversation_uid as varchar(36)) as conversation_uid,
       tool_name, tenant
from tool_calls
where substring(cast(call_uid as varchar(36)), 1, length($call)) = $call
order by call_uid
limit 2
