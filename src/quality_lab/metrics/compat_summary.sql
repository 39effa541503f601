-- One row counts upstream's labels of one kind on the calls of one tool and source, with or without the error flag.
-- steps: picked
with
upstream_labels as (
    select call_uid, label, created_at
    from feedback
    where target_level = 'call'
      and key_space = 'quality_lab'
      and label is not null
      and array_contains($author_kinds, author_kind)
      and (cardinality($labels) = 0 or array_contains($labels, label))
)
select c.tool_name, c.source, c.is_error, l.label, count(*) as total, max(l.created_at) as last_at
from upstream_labels as l
join picked as c on c.call_uid = l.call_uid
where c.key_space = 'quality_lab'
group by c.tool_name, c.source, c.is_error, l.label
