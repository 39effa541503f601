-- One row is a decided group (a tenant and the fingerprint of a tracked proposal) with how many calls carry its label
-- that were made at or after the decision, and how many of which nobody knows when they were made.
-- steps: picked, labels, standing
with
decided as (
    select tenant, fingerprint, tool_name, source, label, max(decided_at) as decided_at
    from proposals
    where status is not null and array_contains($keys, tenant || chr(31) || key)
    group by tenant, fingerprint, tool_name, source, label
),
placed as (
    select coalesce(c.tenant, l.tenant) as tenant, coalesce(c.tool_name, l.tool_name, '') as tool_name,
           coalesce(c.source, l.source) as source, l.label, l.call_uid, c.created_at as called_at
    from standing as l
    left join picked as c on c.call_uid = l.call_uid
    where l.label in ('wrong_tool', 'missing_tool', 'bad_args')
)
select d.tenant, d.fingerprint,
       count(distinct case when p.called_at >= d.decided_at then p.call_uid end) as calls_since,
       count(distinct case when p.called_at is null then p.call_uid end) as undated_calls
from decided as d
join placed as p on p.tenant = d.tenant and p.tool_name = d.tool_name and p.source = d.source and p.label = d.label
group by d.tenant, d.fingerprint
