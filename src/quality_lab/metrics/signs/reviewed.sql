-- reviewed: one row is a call or a guard's row that was reviewed, with its judgement (null where it is disputed).
-- steps: picked, labels, judged
with
rows_of_both as (
    select c.call_uid, c.conversation_uid, c.conversation_id, c.tool_name, c.source,
           c.created_at, c.outcome, c.gate_reason, judged.reviewers,
           case when judged.verdict <> 'disputed' then judged.verdict end as verdict,
           coalesce(judged.verdict = 'disputed', false) as disputed
    from judged
    join picked as c on c.call_uid = judged.call_uid
)
select * from rows_of_both
order by created_at nulls first, call_uid
