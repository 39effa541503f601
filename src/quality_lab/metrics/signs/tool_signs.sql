-- tool_signs: one row is a tool with what its traced calls add up to over its conversations (n calls, y hits, and
-- the sums of squares that an interval needs): failed of the calls whose outcome is known, gated of the same,
-- empty of the calls that ended well.
-- steps: picked, agent_calls
with
per_conversation as (
    select tool_name, conversation_uid,
           count(*) as calls,
           count(case when outcome not in ('unknown', 'rejected') then 1 end) as known,
           count(case when outcome in ('error', 'soft_error') then 1 end) as failed,
           count(case when outcome = 'gated' then 1 end) as gated,
           count(case when outcome = 'ok' then 1 end) as fine,
           count(case when outcome = 'ok' and empty_result then 1 end) as empty
    from agent_calls
    where in_trace
    group by tool_name, conversation_uid
)
select tool_name,
       sum(calls) as calls,
       count(case when known > 0 then 1 end) as conversations,
       sum(known) as known,
       sum(known * known) as known_known,
       sum(failed) as failed,
       sum(failed * failed) as failed_failed,
       sum(failed * known) as failed_known,
       sum(gated) as gated,
       sum(gated * gated) as gated_gated,
       sum(gated * known) as gated_known,
       count(case when fine > 0 then 1 end) as fine_conversations,
       sum(fine) as fine,
       sum(fine * fine) as fine_fine,
       sum(empty) as empty,
       sum(empty * empty) as empty_empty,
       sum(empty * fine) as empty_fine
from per_conversation
group by tool_name
order by tool_name
