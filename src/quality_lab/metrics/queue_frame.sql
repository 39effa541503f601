-- One row is a tool within a stratum: how many of the calls that a queue may be drawn from, or that were reviewed
-- before, are of it.
-- steps: picked, agent_calls, labels, judged, stratified
with
counted as (
    select tool_name, stratum, count(*) as calls
    from stratified
    group by tool_name, stratum
)
select tool_name, stratum, calls
from counted
order by stratum, tool_name
