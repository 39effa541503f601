-- What the three heavy questions cost in plain SQL over plain tables, without intervals: the floor that
-- bench_questions.py measures against. Statements are parted by a line that holds only "--".
select label, count(*) as rows, count(distinct call_uid) as calls, max(created_at) as last_at
from feedback
group by label
--
select calls.tool_name, count(*) as calls, count(*) filter (where calls.outcome in ('error', 'soft_error')) as errors,
       coalesce(sum(labels.labels), 0) as labels
from tool_calls calls
left join (select call_uid, count(*) as labels from feedback group by call_uid) labels using (call_uid)
where calls.actor <> 'guard'
group by calls.tool_name
order by errors desc
--
with joined as (
    select calls.tool_name, calls.source, feedback.label, feedback.key,
           row_number() over (partition by calls.tool_name, calls.source, feedback.label
                              order by feedback.created_at desc, feedback.key desc) as place
    from feedback join tool_calls calls using (call_uid)
    where feedback.label in ('wrong_tool', 'missing_tool', 'bad_args')
)
select tool_name, source, label, count(*) as rows, list(key) filter (where place <= 3) as newest
from joined
group by tool_name, source, label
order by rows desc
