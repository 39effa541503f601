-- One row is a call with one of the uids $calls: whose it is, and the id by which its format knows it.
select cast(call_uid as varchar(36)) as call_uid, tenant, key_space, key
from tool_calls
where array_contains($calls, cast(call_uid as varchar(36)))
