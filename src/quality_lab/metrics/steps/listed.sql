-- chosen: one row is a call that the label filters pick: by a label that stands on it, or by its dispute.
chosen as (
    select call_uid
    from standing
    where $by_labels
      and asked_for
      and (cardinality($labels) = 0 or array_contains($labels, coalesce(label, 'unmapped')))
    union
    select call_uid
    from judged
    where $by_labels and array_contains($labels, 'disputed') and verdict = 'disputed'
),
-- listed: one row is a picked call that the label filters pick too; a guard's row only where it was asked for.
listed as (
    select c.*
    from picked as c
    left join chosen as k on k.call_uid = c.call_uid
    where (not $by_labels or k.call_uid is not null)
      and (c.outcome <> 'guard' or array_contains($actors, 'guard') or array_contains($outcomes, 'guard'))
)
