-- One row is a record of a tracked proposal of one tenant, in upstream's order; stands is 1 for the record that its
-- fingerprint goes by: of several the one that was updated last.
with
ranked as (
    select tenant, key, fingerprint, record, updated_at,
           row_number() over (partition by tenant, fingerprint
                              order by updated_at desc nulls last, length(key) desc, key desc) as age
    from proposals
    where status is not null
)
select tenant, key, fingerprint, record, case when age = 1 then 1 else 0 end as stands
from ranked
order by updated_at desc nulls last, length(key) desc, key desc
