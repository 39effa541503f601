-- argument_values: one row is a call of the chosen tool with its arguments: the newest of them, and every reviewed one.
-- steps: picked, agent_calls, labels, judged
with
by_age as (
    select agent_calls.call_uid, agent_calls.created_at, agent_calls.arguments, judged.verdict,
           row_number() over (order by agent_calls.created_at desc nulls last, agent_calls.call_uid) as age
    from agent_calls
    left join judged on judged.call_uid = agent_calls.call_uid
    where agent_calls.tool_name = $chosen
      and agent_calls.arguments is not null
      and agent_calls.arguments_state in ('object', 'json_string')
)
select call_uid, created_at, arguments, verdict
from by_age
where age <= $most or verdict is not null
order by created_at nulls first, call_uid
