-- One row is a line of the journal that notes a decision which was pushed upstream; the earliest first.
select key, retracts, created_at
from retractions
where retracts like 'quality_lab/%/decision/{%'
order by created_at nulls first, key
