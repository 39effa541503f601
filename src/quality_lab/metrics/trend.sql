-- One row is a period (a day, or a week from Monday, in the zone asked for) with what its calls came to, what
-- reviewers say of them, and the sums of two intervals, as in failing_tools.
-- steps: picked, agent_calls, labels, judged
with
dated as (
    select call_uid, conversation_uid, in_trace, outcome, empty_result,
           cast(date_trunc($every, from_utc_timestamp(created_at, $tz)) as date) as period
    from agent_calls
    where created_at is not null
),
per_conversation as (
    select d.period, d.conversation_uid,
           count(*) as seen,
           count(case when d.in_trace then 1 end) as calls,
           count(case when d.in_trace and d.outcome = 'error' then 1 end) as errors,
           count(case when d.in_trace and d.outcome = 'soft_error' then 1 end) as soft_errors,
           count(case when d.in_trace and d.outcome = 'gated' then 1 end) as gated,
           count(case when d.in_trace and d.outcome = 'rejected' then 1 end) as rejected,
           count(case when d.in_trace and d.outcome = 'unknown' then 1 end) as unknown,
           count(case when d.in_trace and d.empty_result then 1 end) as empty_results,
           count(case when d.in_trace and d.outcome not in ('unknown', 'rejected') then 1 end) as m,
           count(case when d.in_trace and d.outcome in ('error', 'soft_error') then 1 end) as y,
           count(j.call_uid) as reviewed,
           count(case when d.in_trace then j.call_uid end) as judged_m,
           count(case when d.in_trace and j.verdict in ('wrong_tool', 'bad_args')
                       and (cardinality($labels) = 0 or array_contains($labels, j.verdict)) then 1 end) as judged_y
    from dated as d
    left join judged as j on j.call_uid = d.call_uid
    group by d.period, d.conversation_uid
)
select period, sum(seen) as seen, sum(calls) as calls, count(case when calls > 0 then 1 end) as conversations,
       sum(errors) as errors, sum(soft_errors) as soft_errors, sum(gated) as gated, sum(rejected) as rejected,
       sum(unknown) as unknown, sum(empty_results) as empty_results, sum(reviewed) as reviewed,
       sum(m) as error_n, sum(y) as error_y, count(case when m > 0 then 1 end) as error_conversations,
       sum(y * y) as error_yy, sum(y * m) as error_ym, sum(m * m) as error_mm,
       sum(judged_m) as judged_n, sum(judged_y) as judged_y,
       count(case when judged_m > 0 then 1 end) as judged_conversations,
       sum(judged_y * judged_y) as judged_yy, sum(judged_y * judged_m) as judged_ym, sum(judged_m * judged_m) as judged_mm
from per_conversation
group by period
