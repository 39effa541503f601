-- stratified: one row is a call of the agent's side that was seen in a trace export, and the stratum of a queue that
-- it belongs to: "reviewed" where somebody has labelled it, unless that is a dispute and disputes are wanted.
stratified as (
    select c.call_uid, c.tool_name, c.tenant,
           case when j.call_uid is not null and not ($disputes and j.verdict = 'disputed') then 'reviewed'
                when j.call_uid is not null then 'disputed'
                when $errors and c.outcome in ('error', 'soft_error') then 'error'
                when array_contains($rare_tools, c.tool_name) then 'rare'
                else 'rest' end as stratum
    from agent_calls as c
    left join judged as j on j.call_uid = c.call_uid
    where c.in_trace
)
