-- One row is a tool within a tenant and source of which no call was ever seen in a trace export.
-- steps: picked, agent_calls
with
bare as (
    select distinct tool_name, tenant, source
    from agent_calls
    where not in_trace
),
traced as (
    select distinct tenant, coalesce(source, '') as source
    from tool_calls
    where in_trace
)
select b.tool_name, b.tenant, b.source
from bare as b
left join traced as t on t.tenant = b.tenant and t.source = coalesce(b.source, '')
where t.tenant is null
