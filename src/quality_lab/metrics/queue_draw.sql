-- One row is one of the $most calls of a stratum with the least random numbers, by number: the md5 of seed and uid, as
-- `sampling.draw_number` makes it.
-- steps: picked, agent_calls, labels, judged, stratified
with
numbered as (
    select cast(call_uid as varchar(36)) as call_uid, tool_name, tenant, stratum,
           md5(concat($seed, ':draw:', replace(cast(call_uid as varchar(36)), '-', ''))) as draw_number
    from stratified
    where stratum <> 'reviewed'
),
placed as (
    select call_uid, tool_name, tenant, stratum,
           row_number() over (partition by stratum order by draw_number, call_uid) as place
    from numbered
)
select call_uid, tool_name, tenant, stratum, place
from placed
where place <= $most
order by stratum, place
