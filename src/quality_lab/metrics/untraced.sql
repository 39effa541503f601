-- One row is a tool within a tenant and source of which no call was ever seen in a trace export.
-- steps: picked, agent_calls
with
traced as (
    select distinct tenant, coalesce(source, '') as source
    from tool_calls
    where in_trace
)
select distinct c.tool_name, c.tenant, c.source
from agent_calls as c
left join traced as t on t.tenant = c.tenant and t.source = coalesce(c.source, '')
where t.tenant is null
