-- One row is a regression case as it stands: upstream's, or one that was frozen here; the one changed last comes first.
select key, tenant, record, tool_name, label, title, status, proposal_id,
       cast(call_uid as varchar(36)) as call_uid, created_at, updated_at
from regression_cases
where (cardinality($statuses) = 0 or array_contains($statuses, status))
      and (cardinality($keys) = 0 or array_contains($keys, key))
order by updated_at desc nulls last, try_cast(key as bigint) desc, tenant
