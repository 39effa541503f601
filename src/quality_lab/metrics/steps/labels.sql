-- label_rows: one row is a label on a call, by an author of the kinds asked for, within the window of labels. One that
-- was pushed and came back in an export counts once, as the journal tells it.
label_rows as (
    select feedback_uid, call_uid, conversation_uid, key_space, key, label, author, note, created_at, adjudication,
           source, tool_name, label_raw, expected_tool, expected_arguments, author_kind, tenant, guide_version,
           cardinality($reviewers) = 0 or coalesce(array_contains($reviewers, author), false) as asked_for
    from feedback
    where target_level = 'call'
      and call_uid is not null
      and (label is not null or label_raw is not null)
      and array_contains($author_kinds, author_kind)
      and ($label_since is null or created_at >= $label_since)
      and ($label_until is null or created_at < $label_until)
      and (key_space <> 'quality_lab'
           or 'quality_lab/' || tenant || '/' || key not in (select retracts from retractions))
),
-- gathered: one row is a reviewed call with how often each of the five labels was given to it, out of date or not.
gathered as (
    select call_uid,
           count(*) as labels,
           count(case when asked_for then 1 end) as votes,
           count(case when asked_for and label = 'good_reply' then 1 end) as good_reply,
           count(case when asked_for and label = 'wrong_tool' then 1 end) as wrong_tool,
           count(case when asked_for and label = 'missing_tool' then 1 end) as missing_tool,
           count(case when asked_for and label = 'bad_args' then 1 end) as bad_args,
           count(case when asked_for and label = 'other' then 1 end) as other,
           max(conversation_uid) as conversation_uid,
           max(created_at) as labelled_at
    from label_rows
    where label is not null
    group by call_uid
),
-- ranked: one row is a label on a call with several, and its age: 1 for the newest of its reviewer. Adjudications of
-- a call form a line of their own, and a label without an author is the word of a reviewer of its own.
ranked as (
    select r.*,
           row_number() over (
               partition by r.call_uid,
                            case when r.adjudication then 'settled'
                                 when r.author is not null then 'by ' || r.author
                                 else 'unnamed ' || r.key_space || ' ' || r.key end
               order by r.created_at desc nulls last, length(r.key) desc, r.key desc, r.key_space desc
           ) as age,
           max(case when r.adjudication then 1 else 0 end) over (partition by r.call_uid) as settled
    from label_rows as r
    join gathered as g on g.call_uid = r.call_uid
    where g.labels > 1 and r.label is not null
)
