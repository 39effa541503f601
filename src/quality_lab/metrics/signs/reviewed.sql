-- reviewed: one row is a call or a guard's row that was reviewed, with its judgement (null where it is disputed).
-- steps: picked, labels, judged
with
rows_of_both as (
    select cast(c.call_uid as varchar(36)) as call_uid,
           cast(c.conversation_uid as varchar(36)) as conversation_uid, c.conversation_id, c.tool_name, c.source,
           c.created_at, c.outcome, c.gate_reason, judged.reviewers,
           case when judged.verdict <> 'disputed' then judged.verdict end as verdict,
           coalesce(judged.verdict = 'disputed', false) as disputed
    from judged
    join picked as c on c.call_uid = judged.call_uid
    where judged.reviewers >= $least_reviewers
)
select * from rows_of_both
order by created_at nulls first, call_uid
