-- weekly_outcomes: one row is a tool in a week (its Monday, in the filters' zone) with what its traced calls came to
-- and what reviewers say of them.
-- steps: picked, agent_calls, labels, judged
with
placed as (
    select c.tool_name, c.outcome, c.empty_result, j.verdict,
           cast(cast(date_trunc('week', from_utc_timestamp(c.created_at, $tz)) as date) as varchar) as week
    from agent_calls as c
    left join judged as j on j.call_uid = c.call_uid
    where c.in_trace and c.created_at is not null
)
select tool_name, week,
       count(*) as calls,
       count(case when outcome not in ('unknown', 'rejected') then 1 end) as known,
       count(case when outcome in ('error', 'soft_error') then 1 end) as failed,
       count(case when outcome = 'gated' then 1 end) as gated,
       count(case when outcome = 'ok' and empty_result then 1 end) as empty,
       count(verdict) as reviewed,
       count(case when verdict in ('wrong_tool', 'bad_args') then 1 end) as judged_wrong
from placed
group by tool_name, week
order by tool_name, week
