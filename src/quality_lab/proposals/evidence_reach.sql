-- The one row says how far back those calls reach on which the newest $most labels of their kind stand (see
-- evidence.sql): when the first of them was made, and of how many nobody knows.
-- steps: picked, labels, standing
with
placed as (
    select l.feedback_uid, l.created_at as labelled_at, c.call_uid, c.created_at as called_at,
           coalesce(c.tenant, l.tenant) || chr(31) || coalesce(c.tool_name, l.tool_name, '') || chr(31)
               || coalesce(c.source, l.source, '') || chr(31) || l.label as group_key
    from standing as l
    left join picked as c on c.call_uid = l.call_uid
    where l.label is not null
      and l.asked_for
      and (not $picks_calls or c.call_uid is not null)
),
aged as (
    select call_uid, called_at,
           row_number() over (partition by group_key order by labelled_at desc nulls last, feedback_uid) as age
    from placed
)
select count(case when call_uid is not null and called_at is null then 1 end) as undated,
       min(called_at) as first_at
from aged
where age <= $most
