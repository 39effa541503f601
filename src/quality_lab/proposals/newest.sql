-- One row is a label of the newest $most of its kind on the calls of one tool and source; group_key names the kind.
-- steps: picked, labels, standing
with
placed as (
    select l.feedback_uid, l.created_at as labelled_at,
           coalesce(c.tenant, l.tenant) || chr(31) || coalesce(c.tool_name, l.tool_name, '') || chr(31)
               || coalesce(c.source, l.source, '') || chr(31) || l.label as group_key
    from standing as l
    left join picked as c on c.call_uid = l.call_uid
    where l.label is not null
      and l.asked_for
      and (not $picks_calls or c.call_uid is not null)
),
aged as (
    select feedback_uid, group_key,
           row_number() over (partition by group_key order by labelled_at desc nulls last, feedback_uid) as age
    from placed
)
select feedback_uid, group_key, age
from aged
where age <= $most
