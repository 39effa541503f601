-- One row is a tool within a stratum of the queue $queue: how many of its calls were drawn and reviewed, and what they
-- are judged to be. The stratum "reviewed" holds the calls that were labelled before the draw, known without it.
-- steps: picked, agent_calls, labels, judged
with
drawn as (
    select call_uid, tool_name, stratum
    from queue_calls
    where queue = $queue and stratum <> 'disputed'
),
labelled_before as (
    select call_uid
    from label_rows
    where label is not null and ($drawn_at is null or created_at is null or created_at < $drawn_at)
    group by call_uid
),
known as (
    select c.call_uid, c.tool_name, 'reviewed' as stratum
    from agent_calls as c
    join labelled_before as b on b.call_uid = c.call_uid
    left join drawn as d on d.call_uid = c.call_uid
    where c.in_trace and d.call_uid is null
),
every as (
    select call_uid, tool_name, stratum from drawn
    union all
    select call_uid, tool_name, stratum from known
)
select e.tool_name, e.stratum,
       count(*) as drawn,
       count(j.call_uid) as reviewed,
       count(case when j.verdict in ('wrong_tool', 'bad_args') then 1 end) as failures,
       count(case when j.good_reply > 0 then 1 end) as good_reply,
       count(case when j.wrong_tool > 0 then 1 end) as wrong_tool,
       count(case when j.missing_tool > 0 then 1 end) as missing_tool,
       count(case when j.bad_args > 0 then 1 end) as bad_args,
       count(case when j.other > 0 then 1 end) as other,
       count(case when j.verdict = 'disputed' then 1 end) as disputed
from every as e
left join judged as j on j.call_uid = e.call_uid
group by e.tool_name, e.stratum
