-- What the three questions cost at the least, on the lab's own tables and without intervals, denominators or
-- filters. One statement a question, in the order in which bench_questions.py asks them.

-- labels: how often each label was given.
select label, count(*) as given
from feedback
group by label
order by given desc;

-- failing_tools: calls, errors and labels of each tool.
with
called as (
    select tool_name, count(*) as calls, count(*) filter (where is_error) as errors
    from tool_calls
    group by tool_name
),
labelled as (
    select c.tool_name,
           count(*) filter (where f.label = 'good_reply') as good_reply,
           count(*) filter (where f.label = 'wrong_tool') as wrong_tool,
           count(*) filter (where f.label = 'missing_tool') as missing_tool,
           count(*) filter (where f.label = 'bad_args') as bad_args,
           count(*) filter (where f.label = 'other') as other
    from feedback f
    join tool_calls c using (call_uid)
    group by c.tool_name
)
select * from called left join labelled using (tool_name) order by errors desc;

-- proposals: count and three newest ids of each tool, label and source.
with
ranked as (
    select c.tool_name, f.label, c.source, f.key,
           row_number() over (
               partition by c.tool_name, f.label, c.source order by f.created_at desc, f.key desc
           ) as place
    from feedback f
    join tool_calls c using (call_uid)
    where f.label in ('wrong_tool', 'missing_tool', 'bad_args')
)
select tool_name, label, source, count(*) as labels, list(key order by place) filter (where place <= 3) as newest
from ranked
group by tool_name, label, source
order by labels desc;
