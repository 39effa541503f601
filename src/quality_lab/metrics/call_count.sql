-- The one row counts the calls that `calls` would list if it had no limit.
-- steps: picked, labels, judged, standing, listed
with
counted as (
    select count(*) as calls
    from listed
)
select calls from counted
