-- One row is a label, "unmapped" or "disputed" within a group of calls: all of them, or those of one tool, source,
-- style or error flag, as $by says. rows_given counts labels as they were given; y counts the calls on which such a
-- label stands now, n the reviewed calls, and with the sums beside them they give the interval of the share.
-- steps: picked, labels, judged, label_sums
with
labels_by as (
    select call_uid, label, asked_for, created_at, is_picked,
           case $by when 'tool' then case when is_picked then tool_name end
                    when 'source' then source_of_call
                    when 'style' then style
                    when 'error' then case when is_error or told_error then 'true'
                                           when not is_error then 'false' end end as grouped_by
    from label_rows
),
given as (
    select grouped_by, label,
           count(case when asked_for then 1 end) as rows_given,
           0 as unmapped_calls,
           max(case when asked_for then created_at end) as last_at,
           count(case when $joins_calls and not is_picked then 1 end) as elsewhere
    from labels_by
    where label is not null
    group by grouped_by, label
    union all
    select grouped_by, 'unmapped' as label,
           count(case when asked_for then 1 end) as rows_given,
           count(distinct case when asked_for then call_uid end) as unmapped_calls,
           max(case when asked_for then created_at end) as last_at,
           count(case when $joins_calls and not is_picked then 1 end) as elsewhere
    from labels_by
    where label is null
    group by grouped_by
),
judged_by as (
    select *,
           case $by when 'tool' then case when is_picked then tool_name end
                    when 'source' then source_of_call
                    when 'style' then style
                    when 'error' then case when is_error or told_error then 'true'
                                           when not is_error then 'false' end end as grouped_by
    from judged
),
per_conversation as (
    select grouped_by, coalesce(conversation_uid, call_uid) as conversation_uid,
           count(*) as m,
           count(case when good_reply > 0 then 1 end) as good_reply,
           count(case when wrong_tool > 0 then 1 end) as wrong_tool,
           count(case when missing_tool > 0 then 1 end) as missing_tool,
           count(case when bad_args > 0 then 1 end) as bad_args,
           count(case when other > 0 then 1 end) as other,
           count(case when verdict = 'disputed' then 1 end) as disputed,
           sum(case when verdict = 'disputed' then votes else 0 end) as disputed_rows,
           max(case when verdict = 'disputed' then labelled_at end) as disputed_at
    from judged_by
    group by grouped_by, coalesce(conversation_uid, call_uid)
)
select *
from label_sums
