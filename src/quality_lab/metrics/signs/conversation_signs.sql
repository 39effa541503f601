-- conversation_signs: one row is one conversation's dated, traced calls of one of the chosen tools.
-- steps: picked, agent_calls
with
chosen as (
    select *
    from agent_calls
    where in_trace and created_at is not null and array_contains($chosen, tool_name)
)
select tool_name, cast(conversation_uid as varchar(36)) as conversation_uid, min(created_at) as started_at,
       count(case when outcome not in ('unknown', 'rejected') then 1 end) as known,
       count(case when outcome in ('error', 'soft_error') then 1 end) as failed,
       count(case when outcome = 'gated' then 1 end) as gated,
       count(case when outcome = 'ok' then 1 end) as fine,
       count(case when outcome = 'ok' and empty_result then 1 end) as empty
from chosen
group by tool_name, conversation_uid
order by started_at, conversation_uid, tool_name
