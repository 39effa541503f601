-- One row is a tool with its traced calls, the conversations that they were made in, and the sum of the squares of
-- how many each of these has.
-- steps: picked, agent_calls
with
per_conversation as (
    select tool_name, conversation_uid, count(*) as m
    from agent_calls
    where in_trace
    group by tool_name, conversation_uid
),
stated as (
    select distinct name
    from tool_definitions
    where effect is not null
)
select p.tool_name, sum(p.m) as calls, count(*) as conversations, sum(p.m * p.m) as mm,
       max(case when s.name is not null then 1 else 0 end) = 1 as states_effect
from per_conversation as p
left join stated as s on s.name = p.tool_name
group by p.tool_name
