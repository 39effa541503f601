-- One row is a tool: how many of its calls were seen in a trace export and how many of those a person reviewed.
-- steps: picked, agent_calls, labels, judged
with
reviewers_of as (
    select c.tool_name, count(distinct l.author) as reviewers
    from label_rows as l
    join agent_calls as c on c.call_uid = l.call_uid
    where l.label is not null and l.asked_for
    group by c.tool_name
),
counted as (
    select c.tool_name,
           count(*) as seen,
           count(case when c.in_trace then 1 end) as calls,
           count(j.call_uid) as reviewed,
           count(case when c.in_trace then j.call_uid end) as reviewed_in_trace,
           count(case when c.in_trace and c.outcome in ('error', 'soft_error') then 1 end) as failures,
           count(case when c.in_trace and c.outcome in ('error', 'soft_error') then j.call_uid end) as failures_reviewed,
           max(j.labelled_at) as last_label_at
    from agent_calls as c
    left join judged as j on j.call_uid = c.call_uid
    group by c.tool_name
)
select c.*, coalesce(r.reviewers, 0) as reviewers
from counted as c
left join reviewers_of as r on r.tool_name = c.tool_name
