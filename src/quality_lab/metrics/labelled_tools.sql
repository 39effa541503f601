-- One row is a tool name that labels stand on: how many, of every reviewer and every time, and when the newest.
-- steps: picked, labels
with
placed as (
    select coalesce(c.tool_name, l.tool_name) as tool_name, l.created_at
    from label_rows as l
    left join picked as c on c.call_uid = l.call_uid
    where l.label is not null
      and l.asked_for
      and (cardinality($labels) = 0 or array_contains($labels, l.label))
      and (not $picks_calls or c.call_uid is not null)
)
select tool_name, count(*) as label_rows, max(created_at) as last_at
from placed
where tool_name is not null
group by tool_name
