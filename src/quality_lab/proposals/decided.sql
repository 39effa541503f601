-- One row is a tracked proposal as it stands, with how many labels of its group stand on calls that were made at or
-- after its decision, and on calls of which nobody knows when they were made.
-- steps: picked, labels, judged, standing
with
tracked as (
    select tenant, fingerprint, tool_name, source, label, status, decided_at,
           row_number() over (partition by tenant, fingerprint order by updated_at desc nulls last, length(key) desc, key desc) as age
    from proposals
    where status is not null
),
placed as (
    select coalesce(c.tenant, l.tenant) as tenant, coalesce(c.tool_name, l.tool_name, '') as tool_name,
           coalesce(c.source, l.source) as source, l.label, l.call_uid, c.created_at as called_at
    from standing as l
    left join picked as c on c.call_uid = l.call_uid
    where l.label in ('wrong_tool', 'missing_tool', 'bad_args')
)
select t.tenant, t.fingerprint, t.status, t.decided_at,
       count(distinct case when p.called_at >= t.decided_at then p.call_uid end) as calls_since,
       count(distinct case when p.called_at is null then p.call_uid end) as undated_calls
from tracked as t
left join placed as p on p.tenant = t.tenant and p.tool_name = t.tool_name and p.source = t.source and p.label = t.label
where t.age = 1
group by t.tenant, t.fingerprint, t.status, t.decided_at
