-- votes: one row is a reviewed call with the labels that count: a latest adjudication, else each reviewer's latest.
-- Where reviewers were asked for, theirs are the votes; the call counts as reviewed whoever reviewed it. What is known
-- of the call stands beside them, where label_rows know it.
votes as (
    select l.call_uid, 1 as reviewers,
           case when l.asked_for then 1 else 0 end as votes,
           case when l.asked_for and l.label = 'good_reply' then 1 else 0 end as good_reply,
           case when l.asked_for and l.label = 'wrong_tool' then 1 else 0 end as wrong_tool,
           case when l.asked_for and l.label = 'missing_tool' then 1 else 0 end as missing_tool,
           case when l.asked_for and l.label = 'bad_args' then 1 else 0 end as bad_args,
           case when l.asked_for and l.label = 'other' then 1 else 0 end as other,
           l.conversation_uid, l.created_at as labelled_at,
           l.is_picked, l.of_agent, l.in_trace, l.outcome, l.is_error, l.told_error, l.tool_name, l.source_of_call,
           l.tenant, l.style
    from label_rows as l
    left join several as s on s.call_uid = l.call_uid
    where l.label is not null and s.call_uid is null
    union all
    select call_uid,
           count(*) as reviewers,
           count(case when asked_for then 1 end) as votes,
           count(case when asked_for and label = 'good_reply' then 1 end) as good_reply,
           count(case when asked_for and label = 'wrong_tool' then 1 end) as wrong_tool,
           count(case when asked_for and label = 'missing_tool' then 1 end) as missing_tool,
           count(case when asked_for and label = 'bad_args' then 1 end) as bad_args,
           count(case when asked_for and label = 'other' then 1 end) as other,
           max(conversation_uid) as conversation_uid,
           max(created_at) as labelled_at,
           max(is_picked) as is_picked, max(of_agent) as of_agent, max(in_trace) as in_trace, max(outcome) as outcome,
           max(is_error) as is_error, max(told_error) as told_error, max(tool_name) as tool_name,
           max(source_of_call) as source_of_call, max(tenant) as tenant, max(style) as style
    from ranked
    where age = 1 and (settled = 0 or adjudication)
    group by call_uid
),
-- judged: one row is a reviewed call with its judgement: the label that over half of its reviewers gave.
judged as (
    select *,
           case when 2 * good_reply > votes then 'good_reply'
                when 2 * wrong_tool > votes then 'wrong_tool'
                when 2 * missing_tool > votes then 'missing_tool'
                when 2 * bad_args > votes then 'bad_args'
                when 2 * other > votes then 'other'
                when votes > 0 then 'disputed' end as verdict
    from votes
)
