-- One row is a tracked proposal as it stands: of the records under its fingerprint the one that was updated last.
with
ranked as (
    select tenant, fingerprint, key, status, decided_at, record,
           row_number() over (partition by tenant, fingerprint
                              order by updated_at desc nulls last, length(key) desc, key desc) as age
    from proposals
    where status is not null
)
select tenant, fingerprint, key, status, decided_at, record
from ranked
where age = 1
