-- One row is a label, "unmapped" or "disputed" within a group of calls: all of them, or those of one tool, source,
-- style or error flag, as $by says. rows_given counts labels as they were given; y counts the calls on which such a
-- label stands now, n the reviewed calls, and with the sums beside them they give the interval of the share.
-- steps: picked, labels, judged
with
called as (
    select call_uid, conversation_uid,
           case $by when 'tool' then tool_name
                    when 'source' then source
                    when 'style' then style
                    when 'error' then case when is_error or error_origin is not null then 'true'
                                           when not is_error then 'false' end end as grouped_by
    from picked
    where $joins_calls
),
given as (
    select c.grouped_by, coalesce(l.label, 'unmapped') as label,
           count(case when l.asked_for then 1 end) as rows_given,
           count(distinct case when l.asked_for and l.label is null then l.call_uid end) as unmapped_calls,
           max(case when l.asked_for then l.created_at end) as last_at,
           count(case when $joins_calls and c.call_uid is null then 1 end) as elsewhere
    from label_rows as l
    left join called as c on c.call_uid = l.call_uid
    where not $picks_calls or c.call_uid is not null
    group by c.grouped_by, coalesce(l.label, 'unmapped')
),
per_conversation as (
    select c.grouped_by, coalesce(c.conversation_uid, j.conversation_uid, j.call_uid) as conversation_uid,
           count(*) as m,
           count(case when j.good_reply > 0 then 1 end) as good_reply,
           count(case when j.wrong_tool > 0 then 1 end) as wrong_tool,
           count(case when j.missing_tool > 0 then 1 end) as missing_tool,
           count(case when j.bad_args > 0 then 1 end) as bad_args,
           count(case when j.other > 0 then 1 end) as other,
           count(case when j.verdict = 'disputed' then 1 end) as disputed,
           sum(case when j.verdict = 'disputed' then j.votes else 0 end) as disputed_rows,
           max(case when j.verdict = 'disputed' then j.labelled_at end) as disputed_at
    from judged as j
    left join called as c on c.call_uid = j.call_uid
    where not $picks_calls or c.call_uid is not null
    group by c.grouped_by, coalesce(c.conversation_uid, j.conversation_uid, j.call_uid)
),
sums as (
    select grouped_by, sum(m) as n, count(*) as conversations, sum(m * m) as mm,
           sum(good_reply) as good_reply, sum(good_reply * good_reply) as good_reply_yy, sum(good_reply * m) as good_reply_ym,
           sum(wrong_tool) as wrong_tool, sum(wrong_tool * wrong_tool) as wrong_tool_yy, sum(wrong_tool * m) as wrong_tool_ym,
           sum(missing_tool) as missing_tool, sum(missing_tool * missing_tool) as missing_tool_yy, sum(missing_tool * m) as missing_tool_ym,
           sum(bad_args) as bad_args, sum(bad_args * bad_args) as bad_args_yy, sum(bad_args * m) as bad_args_ym,
           sum(other) as other, sum(other * other) as other_yy, sum(other * m) as other_ym,
           sum(disputed) as disputed, sum(disputed * disputed) as disputed_yy, sum(disputed * m) as disputed_ym,
           sum(disputed_rows) as disputed_rows, max(disputed_at) as disputed_at
    from per_conversation
    group by grouped_by
),
named as (
    select 'good_reply' as label union all select 'wrong_tool' union all select 'missing_tool'
    union all select 'bad_args' union all select 'other' union all select 'unmapped' union all select 'disputed'
),
every as (
    select e.grouped_by, n.label
    from (select grouped_by from given union select grouped_by from sums) as e
    cross join named as n
)
select n.grouped_by, n.label,
       coalesce(case when n.label = 'disputed' then s.disputed_rows else g.rows_given end, 0) as rows_given,
       case when n.label = 'disputed' then s.disputed_at else g.last_at end as last_at,
       coalesce(g.unmapped_calls, 0) as unmapped_calls,
       coalesce(g.elsewhere, 0) as elsewhere,
       coalesce(s.n, 0) as n, coalesce(s.conversations, 0) as conversations, coalesce(s.mm, 0) as mm,
       coalesce(case n.label when 'good_reply' then s.good_reply
                    when 'wrong_tool' then s.wrong_tool
                    when 'missing_tool' then s.missing_tool
                    when 'bad_args' then s.bad_args
                    when 'other' then s.other
                    when 'disputed' then s.disputed end, 0) as y,
       coalesce(case n.label when 'good_reply' then s.good_reply_yy
                    when 'wrong_tool' then s.wrong_tool_yy
                    when 'missing_tool' then s.missing_tool_yy
                    when 'bad_args' then s.bad_args_yy
                    when 'other' then s.other_yy
                    when 'disputed' then s.disputed_yy end, 0) as yy,
       coalesce(case n.label when 'good_reply' then s.good_reply_ym
                    when 'wrong_tool' then s.wrong_tool_ym
                    when 'missing_tool' then s.missing_tool_ym
                    when 'bad_args' then s.bad_args_ym
                    when 'other' then s.other_ym
                    when 'disputed' then s.disputed_ym end, 0) as ym
from every as n
left join given as g on g.grouped_by is not distinct from n.grouped_by and g.label = n.label
left join sums as s on s.grouped_by is not distinct from n.grouped_by
