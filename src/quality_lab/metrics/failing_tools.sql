-- One row is a tool with what its picked calls came to, what reviewers say of them, and the sums of two intervals:
-- of its error rate over calls whose outcome is known, and of its judged failure rate over reviewed calls. Both rest
-- on calls seen in a trace export; `seen` counts the others too, which a feedback export brings along.
-- steps: picked, agent_calls, labels, judged
with
counted as (
    select tool_name,
           count(*) as seen,
           count(case when in_trace then 1 end) as calls,
           count(case when in_trace and created_at is not null then 1 end) as dated,
           count(case when in_trace and outcome = 'error' then 1 end) as errors,
           count(case when in_trace and outcome = 'soft_error' then 1 end) as soft_errors,
           count(case when in_trace and outcome = 'gated' then 1 end) as gated,
           count(case when in_trace and outcome = 'rejected' then 1 end) as rejected,
           count(case when in_trace and outcome = 'unknown' then 1 end) as unknown,
           count(case when in_trace and empty_result then 1 end) as empty_results,
           min(created_at) as first_at,
           max(created_at) as last_at
    from agent_calls
    group by tool_name
),
per_conversation as (
    select tool_name, conversation_uid,
           count(case when outcome not in ('unknown', 'rejected') then 1 end) as m,
           count(case when outcome in ('error', 'soft_error') then 1 end) as y
    from agent_calls
    where in_trace
    group by tool_name, conversation_uid
),
error_sums as (
    select tool_name, count(*) as conversations,
           sum(m) as error_n, sum(y) as error_y, count(case when m > 0 then 1 end) as error_conversations,
           sum(y * y) as error_yy, sum(y * m) as error_ym, sum(m * m) as error_mm
    from per_conversation
    group by tool_name
),
reviewed_per_conversation as (
    select tool_name, conversation_uid,
           count(*) as reviewed,
           count(case when in_trace then 1 end) as m,
           count(case when in_trace and shown in ('wrong_tool', 'bad_args') then 1 end) as y,
           count(case when shown = 'good_reply' then 1 end) as good_reply,
           count(case when shown = 'wrong_tool' then 1 end) as wrong_tool,
           count(case when shown = 'missing_tool' then 1 end) as missing_tool,
           count(case when shown = 'bad_args' then 1 end) as bad_args,
           count(case when shown = 'other' then 1 end) as other,
           count(case when shown = 'disputed' then 1 end) as disputed
    from (select *, case when cardinality($labels) = 0 or array_contains($labels, verdict) then verdict end as shown
          from judged) as j
    where is_picked and of_agent
    group by tool_name, conversation_uid
),
judged_sums as (
    select tool_name, sum(reviewed) as reviewed,
           sum(good_reply) as good_reply, sum(wrong_tool) as wrong_tool, sum(missing_tool) as missing_tool,
           sum(bad_args) as bad_args, sum(other) as other, sum(disputed) as disputed,
           sum(m) as judged_n, sum(y) as judged_y, count(case when m > 0 then 1 end) as judged_conversations,
           sum(y * y) as judged_yy, sum(y * m) as judged_ym, sum(m * m) as judged_mm
    from reviewed_per_conversation
    group by tool_name
)
select c.tool_name, c.seen, c.calls, c.dated, c.errors, c.soft_errors, c.gated, c.rejected, c.unknown, c.empty_results,
       c.first_at, c.last_at,
       coalesce(e.conversations, 0) as conversations,
       coalesce(e.error_n, 0) as error_n, coalesce(e.error_y, 0) as error_y,
       coalesce(e.error_conversations, 0) as error_conversations,
       coalesce(e.error_yy, 0) as error_yy, coalesce(e.error_ym, 0) as error_ym, coalesce(e.error_mm, 0) as error_mm,
       coalesce(j.reviewed, 0) as reviewed,
       coalesce(j.good_reply, 0) as good_reply, coalesce(j.wrong_tool, 0) as wrong_tool,
       coalesce(j.missing_tool, 0) as missing_tool, coalesce(j.bad_args, 0) as bad_args,
       coalesce(j.other, 0) as other, coalesce(j.disputed, 0) as disputed,
       coalesce(j.judged_n, 0) as judged_n, coalesce(j.judged_y, 0) as judged_y,
       coalesce(j.judged_conversations, 0) as judged_conversations,
       coalesce(j.judged_yy, 0) as judged_yy, coalesce(j.judged_ym, 0) as judged_ym, coalesce(j.judged_mm, 0) as judged_mm
from counted as c
left join error_sums as e on e.tool_name = c.tool_name
left join judged_sums as j on j.tool_name = c.tool_name
