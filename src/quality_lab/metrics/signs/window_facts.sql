-- window_facts: the one row says what a window holds: its calls, conversations and labels, the sums that the shares
-- of failed calls and of calls judged wrong need, and (whatever the window) when the first and newest calls were made.
-- steps: picked, agent_calls, labels, judged
with
of_each as (
    select c.conversation_uid, c.in_trace,
           c.outcome in ('error', 'soft_error') as failed,
           c.outcome not in ('unknown', 'rejected') as known,
           j.call_uid is not null as reviewed,
           coalesce(j.verdict in ('wrong_tool', 'bad_args'), false) as wrong
    from agent_calls as c
    left join judged as j on j.call_uid = c.call_uid
),
per_conversation as (
    select conversation_uid,
           count(*) as calls,
           count(case when in_trace then 1 end) as traced,
           count(case when in_trace and known then 1 end) as known,
           count(case when in_trace and known and failed then 1 end) as failed,
           count(case when reviewed then 1 end) as reviewed,
           count(case when reviewed and in_trace then 1 end) as reviewed_traced,
           count(case when reviewed and wrong then 1 end) as wrong
    from of_each
    group by conversation_uid
),
added as (
    select count(*) as conversations, sum(calls) as calls, sum(traced) as traced,
           sum(known) as known, sum(known * known) as known_known,
           count(case when known > 0 then 1 end) as known_conversations,
           sum(failed) as failed, sum(failed * failed) as failed_failed, sum(failed * known) as failed_known,
           sum(reviewed) as reviewed, sum(reviewed * reviewed) as reviewed_reviewed,
           sum(reviewed_traced) as reviewed_traced,
           count(case when reviewed > 0 then 1 end) as reviewed_conversations,
           sum(wrong) as wrong, sum(wrong * wrong) as wrong_wrong, sum(wrong * reviewed) as wrong_reviewed
    from per_conversation
),
given as (
    select count(*) as labels, array_agg(distinct author) filter (where author is not null) as authors
    from label_rows
    where label is not null and call_uid in (select call_uid from picked)
),
whenever as (
    select min(created_at) as first_call_at, max(created_at) as newest_call_at,
           count(case when created_at is null then 1 end) as undated
    from matching
    where outcome <> 'guard'
)
select coalesce(a.calls, 0) as calls, coalesce(a.traced, 0) as traced, a.conversations,
       coalesce(a.known, 0) as known, coalesce(a.known_known, 0) as known_known, a.known_conversations,
       coalesce(a.failed, 0) as failed, coalesce(a.failed_failed, 0) as failed_failed,
       coalesce(a.failed_known, 0) as failed_known,
       coalesce(a.reviewed, 0) as reviewed, coalesce(a.reviewed_reviewed, 0) as reviewed_reviewed,
       coalesce(a.reviewed_traced, 0) as reviewed_traced, a.reviewed_conversations,
       coalesce(a.wrong, 0) as wrong, coalesce(a.wrong_wrong, 0) as wrong_wrong,
       coalesce(a.wrong_reviewed, 0) as wrong_reviewed,
       g.labels, g.authors, w.first_call_at, w.newest_call_at, w.undated
from added as a
cross join given as g
cross join whenever as w
