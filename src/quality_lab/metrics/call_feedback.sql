-- One row is a label, score or note on the call $call, whoever gave it; a label that was pushed and came back is one.
select key_space, key, name, label, label_raw, author_kind, author, note, created_at, expected_tool,
       expected_arguments, adjudication
from feedback
where cast(call_uid as varchar(36)) = $call
  and (key_space <> 'quality_lab'
       or 'quality_lab/' || tenant || '/' || key not in (select retracts from retractions))
