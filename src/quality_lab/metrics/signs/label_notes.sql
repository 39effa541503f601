-- label_notes: one row is a label that counts (a call's latest adjudication, else each reviewer's latest), with what
-- its reviewer wrote beside it.
-- steps: picked, labels
with
aged as (
    select r.*,
           row_number() over (
               partition by r.call_uid,
                            case when r.adjudication then 'settled'
                                 when r.author is not null then 'by ' || r.author
                                 else 'unnamed ' || r.key_space || ' ' || r.key end
               order by r.created_at desc nulls last, length(r.key) desc, r.key desc, r.key_space desc
           ) as reviewers_age,
           max(case when r.adjudication then 1 else 0 end) over (partition by r.call_uid) as is_settled
    from label_rows as r
    where r.label is not null
),
noted as (
    select cast(aged.call_uid as varchar(36)) as call_uid, c.tool_name,
           cast(c.conversation_uid as varchar(36)) as conversation_uid, aged.label, aged.author, aged.note,
           aged.expected_tool, aged.expected_arguments, aged.created_at
    from aged
    join picked as c on c.call_uid = aged.call_uid
    where reviewers_age = 1 and (is_settled = 0 or aged.adjudication)
      and (cardinality($chosen) = 0 or array_contains($chosen, cast(aged.call_uid as varchar(36))))
)
select * from noted
order by created_at nulls first, call_uid, author, label
