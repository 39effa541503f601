-- votes: one row is a reviewed call with the labels that count: a latest adjudication, else each reviewer's latest.
-- Where reviewers were asked for, theirs are the votes; the call counts as reviewed whoever reviewed it.
votes as (
    select call_uid, 1 as reviewers, votes, good_reply, wrong_tool, missing_tool, bad_args, other, conversation_uid,
           labelled_at
    from gathered
    where labels = 1
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
           max(created_at) as labelled_at
    from ranked
    where age = 1 and (settled = 0 or adjudication)
    group by call_uid
),
-- judged: one row is a reviewed call with its judgement: the label that over half of its reviewers gave.
judged as (
    select call_uid, conversation_uid, reviewers, votes, labelled_at,
           good_reply, wrong_tool, missing_tool, bad_args, other,
           case when 2 * good_reply > votes then 'good_reply'
                when 2 * wrong_tool > votes then 'wrong_tool'
                when 2 * missing_tool > votes then 'missing_tool'
                when 2 * bad_args > votes then 'bad_args'
                when 2 * other > votes then 'other'
                when votes > 0 then 'disputed' end as verdict
    from votes
)
