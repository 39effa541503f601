-- One row is a group of labels that ask for action: a label, a tool and a source of a tenant, with how many there are,
-- the sums of the rate at which reviewed calls of that tool and source are judged so, and how many such calls are made.
-- steps: picked, labels, judged
with
placed as (
    select tenant, coalesce(tool_name, '') as tool_name, source, label, call_uid, created_at,
           outcome = 'error' or (outcome = 'guard' and is_error) as failed,
           case when outcome = 'guard' then 1 else 0 end as of_guard
    from label_rows
    where label in ('wrong_tool', 'missing_tool', 'bad_args')
      and asked_for
      and (cardinality($labels) = 0 or array_contains($labels, label))
),
given as (
    select tenant, tool_name, source, label,
           count(*) as feedback_count,
           count(distinct call_uid) as labelled_calls,
           count(case when failed then 1 end) as error_count,
           min(of_guard) as guards_only,
           max(created_at) as last_at
    from placed
    group by tenant, tool_name, source, label
),
counted as (
    select tenant, tool_name, source_of_call, conversation_uid, in_trace and outcome <> 'guard' as counts, verdict,
           wrong_tool, missing_tool, bad_args
    from judged
    where is_picked
),
reviews as (
    select tenant, tool_name, source_of_call,
           count(*) as reviewed,
           count(case when wrong_tool > 0 then 1 end) as wrong_tool_stands,
           count(case when missing_tool > 0 then 1 end) as missing_tool_stands,
           count(case when bad_args > 0 then 1 end) as bad_args_stands
    from counted
    group by tenant, tool_name, source_of_call
),
per_conversation as (
    select tenant, tool_name, source_of_call, conversation_uid,
           count(*) as m,
           count(case when verdict = 'wrong_tool' then 1 end) as wrong_tool,
           count(case when verdict = 'missing_tool' then 1 end) as missing_tool,
           count(case when verdict = 'bad_args' then 1 end) as bad_args
    from counted
    where counts
    group by tenant, tool_name, source_of_call, conversation_uid
),
sums as (
    select tenant, tool_name, source_of_call, sum(m) as n, sum(m * m) as mm, count(*) as conversations,
           sum(wrong_tool) as wrong_tool, sum(wrong_tool * wrong_tool) as wrong_tool_yy, sum(wrong_tool * m) as wrong_tool_ym,
           sum(missing_tool) as missing_tool, sum(missing_tool * missing_tool) as missing_tool_yy, sum(missing_tool * m) as missing_tool_ym,
           sum(bad_args) as bad_args, sum(bad_args * bad_args) as bad_args_yy, sum(bad_args * m) as bad_args_ym
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
       coalesce(case g.label when 'wrong_tool' then r.wrong_tool_stands when 'missing_tool' then r.missing_tool_stands
                             else r.bad_args_stands end, 0) as standing_calls,
       coalesce(r.reviewed, 0) as reviewed,
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
left join reviews as r
    on r.tenant = g.tenant and r.tool_name = g.tool_name and r.source_of_call is not distinct from g.source
left join sums as s
    on s.tenant = g.tenant and s.tool_name = g.tool_name and s.source_of_call is not distinct from g.source
left join made as m on m.tenant = g.tenant and m.tool_name = g.tool_name and m.source is not distinct from g.source
