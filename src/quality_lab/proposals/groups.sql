-- One row is a group of labels that ask for action: a label, a tool and a source of a tenant, with how many there are,
-- the sums of the rate at which reviewed calls of that tool and source are judged so, and how many such calls are made.
-- steps: picked, labels, judged
with
placed as (
    select l.tenant, coalesce(l.tool_name, '') as tool_name, l.source, l.label, l.created_at,
           case when s.call_uid is not null then l.call_uid end as shared_call,
           l.outcome = 'error' or (l.outcome = 'guard' and l.is_error) as failed,
           case when l.outcome = 'guard' then 1 else 0 end as of_guard
    from label_rows as l
    left join several as s on s.call_uid = l.call_uid
    where l.label in ('wrong_tool', 'missing_tool', 'bad_args')
      and l.asked_for
      and (cardinality($labels) = 0 or array_contains($labels, l.label))
),
given as (
    select tenant, tool_name, source, label,
           count(*) as feedback_count,
           count(case when shared_call is null then 1 end) + count(distinct shared_call) as labelled_calls,
           count(case when failed then 1 end) as error_count,
           min(of_guard) as guards_only,
           max(created_at) as last_at
    from placed
    group by tenant, tool_name, source, label
),
per_conversation as (
    select tenant, tool_name, source_of_call, conversation_uid,
           count(case when in_trace and outcome <> 'guard' then 1 end) as m,
           count(case when in_trace and outcome <> 'guard' and verdict = 'wrong_tool' then 1 end) as wrong_tool,
           count(case when in_trace and outcome <> 'guard' and verdict = 'missing_tool' then 1 end) as missing_tool,
           count(case when in_trace and outcome <> 'guard' and verdict = 'bad_args' then 1 end) as bad_args,
           count(*) as reviewed,
           count(case when wrong_tool > 0 then 1 end) as wrong_tool_stands,
           count(case when missing_tool > 0 then 1 end) as missing_tool_stands,
           count(case when bad_args > 0 then 1 end) as bad_args_stands
    from judged
    where is_picked
    group by tenant, tool_name, source_of_call, conversation_uid
),
sums as (
    select tenant, tool_name, source_of_call,
           sum(reviewed) as reviewed, sum(m) as n, sum(m * m) as mm, count(case when m > 0 then 1 end) as conversations,
           sum(wrong_tool) as wrong_tool, sum(wrong_tool * wrong_tool) as wrong_tool_yy, sum(wrong_tool * m) as wrong_tool_ym,
           sum(missing_tool) as missing_tool, sum(missing_tool * missing_tool) as missing_tool_yy,
           sum(missing_tool * m) as missing_tool_ym,
           sum(bad_args) as bad_args, sum(bad_args * bad_args) as bad_args_yy, sum(bad_args * m) as bad_args_ym,
           sum(wrong_tool_stands) as wrong_tool_stands, sum(missing_tool_stands) as missing_tool_stands,
           sum(bad_args_stands) as bad_args_stands
    from per_conversation
    group by tenant, tool_name, source_of_call
),
made as (
    select tenant, tool_name, source, count(*) as calls_made, min(created_at) as first_made_at, max(created_at) as last_made_at
    from matching
    where in_trace
      and outcome <> 'guard'
      and created_at is not null
      and ($window_since is null or created_at >= $window_since)
      and ($window_until is null or created_at < $window_until)
    group by tenant, tool_name, source
)
select g.tenant, g.tool_name, g.source, g.label, g.feedback_count, g.labelled_calls, g.error_count, g.guards_only, g.last_at,
       coalesce(case g.label when 'wrong_tool' then s.wrong_tool_stands when 'missing_tool' then s.missing_tool_stands
                             else s.bad_args_stands end, 0) as standing_calls,
       coalesce(s.reviewed, 0) as reviewed,
       coalesce(s.n, 0) as judged_n,
       coalesce(case g.label when 'wrong_tool' then s.wrong_tool when 'missing_tool' then s.missing_tool
                             else s.bad_args end, 0) as judged_y,
       coalesce(s.conversations, 0) as judged_conversations,
       coalesce(case g.label when 'wrong_tool' then s.wrong_tool_yy when 'missing_tool' then s.missing_tool_yy
                             else s.bad_args_yy end, 0) as judged_yy,
       coalesce(case g.label when 'wrong_tool' then s.wrong_tool_ym when 'missing_tool' then s.missing_tool_ym
                             else s.bad_args_ym end, 0) as judged_ym,
       coalesce(s.mm, 0) as judged_mm,
       coalesce(m.calls_made, 0) as calls_made, m.first_made_at, m.last_made_at
from given as g
left join sums as s
    on s.tenant = g.tenant and s.tool_name = g.tool_name and s.source_of_call is not distinct from g.source
left join made as m on m.tenant = g.tenant and m.tool_name = g.tool_name and m.source is not distinct from g.source
