-- One row is a label of the newest $most of its kind on the calls of one tool and source, with the call that it is
-- about; group_key names the kind, and age is 1 for its newest. No such call was made before the first of them, which
-- spares reading the long texts of those.
-- steps: picked, labels, standing, placed
with
days as (
    select tenant, tool_name, source, label, cast(labelled_at as date) as day, count(*) as given
    from placed
    group by tenant, tool_name, source, label, cast(labelled_at as date)
),
-- late: one row is a day on which labels of a kind were given, and how many of that kind were given after it; that so
-- many days are left out spares sorting all labels for the newest few.
late as (
    select tenant, tool_name, source, label, day,
           sum(given) over (
               partition by tenant, tool_name, source, label order by day desc nulls last
               rows between unbounded preceding and current row
           ) - given as given_later
    from days
),
aged as (
    select p.*,
           row_number() over (
               partition by p.tenant, p.tool_name, p.source, p.label order by p.labelled_at desc nulls last, p.feedback_uid
           ) as age
    from placed as p
    join late as d
        on d.tenant = p.tenant and d.tool_name = p.tool_name and d.source = p.source and d.label = p.label
        and d.day is not distinct from cast(p.labelled_at as date)
    where d.given_later < $most
),
newest as (
    select feedback_uid, call_uid, called_at, tenant, tool_name, age,
           tenant || chr(31) || tool_name || chr(31) || source || chr(31) || label as group_key
    from aged
    where age <= $most
),
-- told: one row is a call that may be one of them. Where no label has a dated call, none that is dated is: a day that
-- never comes says so, as a null would have every call read.
told as (
    select *
    from tool_calls
    where created_at >= (select coalesce(min(called_at), cast('9999-12-31 00:00:00' as timestamp)) from newest)
    union all
    select *
    from tool_calls
    where created_at is null
)
select a.group_key, a.age, a.tenant, a.tool_name,
       coalesce(t.source, l.source) as source, l.label, l.feedback_uid, l.call_uid, l.author, l.note,
       l.created_at as labelled_at, l.expected_tool, l.expected_arguments,
       t.conversation_id, t.arguments, t.arguments_state, t.result, t.outcome, t.error_text,
       t.created_at as called_at, f.path as file, t.line
from newest as a
join feedback as l on l.feedback_uid = a.feedback_uid
left join told as t on t.call_uid = a.call_uid
left join sources as f on f.source_id = t.source_id
