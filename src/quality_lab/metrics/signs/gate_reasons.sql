-- gate_reasons: one row is a tool and a reason for which the application turned its calls away.
-- steps: picked, agent_calls
with
gated as (
    select tool_name, gate_reason as reason, conversation_uid, created_at
    from agent_calls
    where outcome = 'gated'
)
select tool_name, reason, count(*) as calls, count(distinct conversation_uid) as conversations,
       max(created_at) as last_at
from gated
group by tool_name, reason
order by calls desc, tool_name, reason
