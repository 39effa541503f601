-- One row is a decided group (a tenant and a proposal's fingerprint) with how many calls carry its label
-- that were made at or after the decision, and how many of which nobody knows when they were made.
-- steps: picked, labels, standing
with
decided as (
    select tenant, fingerprint, max(decided_at) as decided_at
    from (
        select tenant, fingerprint, decided_at
        from proposals
        where status is not null and array_contains($keys, tenant || chr(31) || key)
        union all
        select tenant, fingerprint, coalesce(effective_at, decided_at)
        from decisions
        where array_contains($decisions, key)
    ) as standing_decisions
    group by tenant, fingerprint
),
placed as (
    select coalesce(c.tenant, l.tenant) as tenant,
           case l.label when 'bad_args' then 'schema_fix' when 'wrong_tool' then 'routing_prompt_fix'
                        else 'tool_candidate' end
               || ':' || coalesce(c.source, l.source, '') || ':' || coalesce(c.tool_name, l.tool_name, '')
               || ':' || l.label as fingerprint,
           l.call_uid, c.created_at as called_at
    from standing as l
    left join picked as c on c.call_uid = l.call_uid
    where l.label in ('wrong_tool', 'missing_tool', 'bad_args')
)
select d.tenant, d.fingerprint,
       count(distinct case when p.called_at >= d.decided_at then p.call_uid end) as calls_since,
       count(distinct case when p.called_at is null then p.call_uid end) as undated_calls
from decided as d
join placed as p on p.tenant = d.tenant and p.fingerprint = d.fingerprint
group by d.tenant, d.fingerprint
