-- argument_values: one row is a call of the chosen tool with its arguments: the newest of them, and every reviewed one.
-- steps: picked, agent_calls, labels, judged
with
by_age as (
    select c.call_uid, c.created_at, c.arguments, judged.verdict,
           row_number() over (order by c.created_at desc nulls last, c.call_uid) as age
    from agent_calls as c
    left join judged on judged.call_uid = c.call_uid
    where c.tool_name = $chosen
      and c.arguments is not null
      and c.arguments_state in ('object', 'json_string')
)
select cast(call_uid as varchar(36)) as call_uid, created_at, arguments, verdict
from by_age
where age <= $most or verdict is not null
order by created_at nulls first, call_uid
