-- One row is a message of the conversation in which the call $call was made.
select m.position, m.role, m.text, m.content
from messages as m
where m.conversation_uid in (select conversation_uid from tool_calls where cast(call_uid as varchar(36)) = $call)
order by m.position
