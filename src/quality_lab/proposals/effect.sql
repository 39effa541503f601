-- One row is the time before a change, or since then, or after the day by which it was to have come (before, since,
-- later), or calls of which nobody knows when they were made (undated): how many calls of one tool and source were made,
-- the sums of the rate at which the reviewed ones are judged $of_label, and how many of these a queue preferred, as they
-- had failed or were disputed.
-- steps: picked, labels, judged
with
made as (
    select case when created_at is null then 'undated'
                when created_at < $changed_at then 'before'
                when $expected_until is null or created_at < $expected_until then 'since'
                else 'later' end as side,
           call_uid, conversation_uid
    from picked
    where in_trace
      and outcome <> 'guard'
      and tenant = $of_tenant
      and tool_name = $of_tool
      and source is not distinct from $of_source
),
preferred as (
    select distinct call_uid
    from queue_calls
    where stratum in ('error', 'disputed')
),
per_conversation as (
    select m.side, m.conversation_uid,
           count(*) as calls,
           count(case when j.call_uid is not null and q.call_uid is not null then 1 end) as preferred,
           count(j.call_uid) as m,
           count(case when j.verdict = $of_label then 1 end) as y
    from made as m
    left join judged as j on j.call_uid = m.call_uid
    left join preferred as q on q.call_uid = m.call_uid
    group by m.side, m.conversation_uid
)
select side, sum(calls) as calls, sum(preferred) as preferred,
       sum(m) as judged_n, sum(y) as judged_y, count(case when m > 0 then 1 end) as judged_conversations,
       sum(y * y) as judged_yy, sum(y * m) as judged_ym, sum(m * m) as judged_mm
from per_conversation
group by side
order by side
