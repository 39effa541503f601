-- One row is a tool with how long its calls took, in milliseconds: the values around the 50 % and 95 % places of its
-- sorted latencies, from which the quantiles come by linear interpolation. Only calls of a trace export count: what
-- a feedback export brings along was picked by reviewers.
-- steps: picked, agent_calls
with
sorted_calls as (
    select tool_name, latency_ms,
           row_number() over (partition by tool_name order by latency_ms) - 1 as place,
           count(*) over (partition by tool_name) as calls
    from agent_calls
    where in_trace
      and latency_ms is not null
)
select tool_name,
       max(calls) as calls,
       max(case when place <= 0.5 * (calls - 1) then latency_ms end) as p50_below_ms,
       min(case when place >= 0.5 * (calls - 1) then latency_ms end) as p50_above_ms,
       max(case when place <= 0.95 * (calls - 1) then latency_ms end) as p95_below_ms,
       min(case when place >= 0.95 * (calls - 1) then latency_ms end) as p95_above_ms,
       max(latency_ms) as max_ms
from sorted_calls
group by tool_name
