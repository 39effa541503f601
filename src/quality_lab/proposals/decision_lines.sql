-- One row is a decision about a proposal, as the journal tells it and nobody took it back; the earliest first.
select key, tenant, fingerprint, action, kind, ref, url, note, owner, due, expectation, effective_at, decided_at,
       author, seen
from decisions
order by decided_at nulls first, key
