-- label_rows: one row is a label on a call, by an author of the kinds asked for, within the window of labels. One that
-- was pushed and came back in an export counts once, as the journal tells it. Where $joins_calls, the picked call that
-- it is about stands beside it, as far as there is one (is_picked), and where filters pick calls, labels on others are
-- left out: that each label finds its call once is what these questions cost. Its conversation, tool, source and
-- tenant are then the call's, which may know better; source_of_call is null where the call itself does not say.
label_rows as (
    select l.feedback_uid, l.call_uid, l.key_space, l.key, l.label, l.author, l.note, l.created_at, l.adjudication, l.in_sight,
           l.label_raw, l.expected_tool, l.expected_arguments, l.author_kind, l.guide_version, l.asked_for,
           coalesce(c.conversation_uid, l.conversation_uid) as conversation_uid,
           coalesce(c.tool_name, l.tool_name) as tool_name,
           coalesce(c.source, l.source) as source,
           coalesce(c.tenant, l.tenant) as tenant,
           c.call_uid is not null as is_picked,
           c.of_agent, c.in_trace, c.outcome, c.is_error, c.error_origin is not null as told_error,
           c.style, c.source as source_of_call, c.created_at as called_at
    from (
        select *, cardinality($reviewers) = 0 or coalesce(array_contains($reviewers, author), false) as asked_for
        from feedback
        where target_level = 'call'
          and call_uid is not null
          and (label is not null or label_raw is not null)
          and array_contains($author_kinds, author_kind)
          and ($label_since is null or created_at >= $label_since)
          and ($label_until is null or created_at < $label_until)
          and (key_space <> 'quality_lab'
               or 'quality_lab/' || tenant || '/' || key not in (select retracts from retractions))
    ) as l
    left join (select * from picked where $joins_calls) as c on c.call_uid = l.call_uid
    where not $joins_calls or not $picks_calls or c.call_uid is not null
),
-- several: one row is a reviewed call with more labels of the five than one, out of date or not.
several as (
    select call_uid
    from label_rows
    where label is not null
    group by call_uid
    having count(*) > 1
),
-- ranked: one row is a label on such a call, and its age: 1 for the newest of its reviewer. Adjudications of a call
-- form a line of their own, and a label without an author is the word of a reviewer of its own. What decides it is
-- read once more, for these few.
ranked as (
    select r.*,
           row_number() over (
               partition by r.call_uid,
                            case when f.adjudication then 'settled'
                                 when f.author is not null then 'by ' || f.author
                                 else 'unnamed ' || f.key_space || ' ' || f.key end
               order by f.created_at desc nulls last, length(f.key) desc, f.key desc, f.key_space desc
           ) as age,
           max(case when f.adjudication then 1 else 0 end) over (partition by r.call_uid) as settled
    from several as s
    join label_rows as r on r.call_uid = s.call_uid
    join feedback as f on f.feedback_uid = r.feedback_uid
    where r.label is not null
)
