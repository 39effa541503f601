-- One row is a label, "unmapped" or "disputed" of one reviewer or of one week, as $by says: the same columns as
-- label_counts has. A call counts as reviewed in each group in which a label stands on it now.
-- steps: picked, labels, judged, label_sums
with
placed as (
    select l.feedback_uid, l.call_uid, l.label, l.asked_for, l.created_at,
           coalesce(c.conversation_uid, l.conversation_uid, l.call_uid) as conversation_uid,
           case $by when 'reviewer' then l.author
                    when 'week' then cast(cast(date_trunc('week', from_utc_timestamp(l.created_at, $tz)) as date)
                                          as varchar(10)) end as grouped_by,
           case when c.call_uid is null then 1 else 0 end as elsewhere
    from label_rows as l
    left join picked as c on c.call_uid = l.call_uid
    where not $picks_calls or c.call_uid is not null
),
given as (
    select grouped_by, coalesce(label, 'unmapped') as label,
           count(case when asked_for then 1 end) as rows_given,
           count(distinct case when asked_for and label is null then call_uid end) as unmapped_calls,
           max(case when asked_for then created_at end) as last_at,
           sum(elsewhere) as elsewhere
    from placed
    group by grouped_by, coalesce(label, 'unmapped')
),
outdated as (
    select feedback_uid
    from ranked
    where age > 1 or (settled = 1 and not adjudication)
),
per_call as (
    select p.grouped_by, p.conversation_uid, p.call_uid,
           max(case when p.asked_for and p.label = 'good_reply' then 1 else 0 end) as good_reply,
           max(case when p.asked_for and p.label = 'wrong_tool' then 1 else 0 end) as wrong_tool,
           max(case when p.asked_for and p.label = 'missing_tool' then 1 else 0 end) as missing_tool,
           max(case when p.asked_for and p.label = 'bad_args' then 1 else 0 end) as bad_args,
           max(case when p.asked_for and p.label = 'other' then 1 else 0 end) as other,
           max(case when p.asked_for and j.verdict = 'disputed' then 1 else 0 end) as disputed,
           count(case when p.asked_for and j.verdict = 'disputed' then 1 end) as disputed_rows,
           max(case when p.asked_for and j.verdict = 'disputed' then p.created_at end) as disputed_at
    from placed as p
    join judged as j on j.call_uid = p.call_uid
    left join outdated as o on o.feedback_uid = p.feedback_uid
    where p.label is not null and o.feedback_uid is null
    group by p.grouped_by, p.conversation_uid, p.call_uid
),
per_conversation as (
    select grouped_by, conversation_uid, count(*) as m,
           sum(good_reply) as good_reply, sum(wrong_tool) as wrong_tool, sum(missing_tool) as missing_tool,
           sum(bad_args) as bad_args, sum(other) as other, sum(disputed) as disputed,
           sum(disputed_rows) as disputed_rows, max(disputed_at) as disputed_at
    from per_call
    group by grouped_by, conversation_uid
)
select *
from label_sums
