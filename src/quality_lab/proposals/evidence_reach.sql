-- The one row says how far back those calls reach on which the newest $most labels of their kind stand (see
-- evidence.sql): when the first of them was made, and of how many nobody knows.
-- steps: picked, labels, standing, placed
with
aged as (
    select call_uid, called_at,
           row_number() over (partition by group_key order by labelled_at desc nulls last, feedback_uid) as age
    from placed
)
select count(case when call_uid is not null and called_at is null then 1 end) as undated,
       min(called_at) as first_at
from aged
where age <= $most
