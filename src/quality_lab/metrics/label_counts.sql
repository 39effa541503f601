-- One row is a label, "unmapped" or "disputed" within a group of calls: all of them, or those of one tool, source,
-- style or error flag, as $by says. rows_given counts labels as they were given; y counts the calls on which such a
-- label stands now, n the reviewed calls, and with the sums beside them they give the interval of the share.
-- steps: picked, labels, judged, label_sums
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
)
select *
from label_sums
