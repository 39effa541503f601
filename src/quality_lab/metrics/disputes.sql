-- One row is what a reviewer said last of a call whose reviewers have no majority, or whose dispute an adjudication
-- settled; the adjudication comes as a row of its own, the last. $settled says whether settled ones are asked for, $every
-- whether calls with a majority come too: who counts persons and not ids may find none there.
-- steps: picked, labels, judged
with
rated as (
    select call_uid, author, label, note, expected_tool, expected_arguments, guide_version, created_at, adjudication,
           settled, key_space, key
    from ranked
    where age = 1 and asked_for
),
votes_of as (
    select call_uid, max(settled) as settled, max(created_at) as last_at,
           count(case when not adjudication then 1 end) as given,
           count(case when array_contains($labels, label) then 1 end) as asked_about,
           count(case when not adjudication and label = 'good_reply' then 1 end) as good_reply,
           count(case when not adjudication and label = 'wrong_tool' then 1 end) as wrong_tool,
           count(case when not adjudication and label = 'missing_tool' then 1 end) as missing_tool,
           count(case when not adjudication and label = 'bad_args' then 1 end) as bad_args,
           count(case when not adjudication and label = 'other' then 1 end) as other
    from rated
    group by call_uid
),
contested as (
    select *
    from votes_of
    where given > 1
      and ($every or 2 * greatest(good_reply, wrong_tool, missing_tool, bad_args, other) <= given)
      and (settled = 0 or $settled)
      and (cardinality($labels) = 0 or asked_about > 0)
)
select cast(k.call_uid as varchar(36)) as call_uid, cast(c.conversation_uid as varchar(36)) as conversation_uid,
       c.conversation_id, c.tool_name, c.source, c.style, c.arguments, c.outcome, c.created_at,
       k.settled = 1 as settled, k.last_at, r.author, r.label, r.note, r.expected_tool, r.expected_arguments,
       r.guide_version, r.created_at as labelled_at, r.adjudication, r.key_space, r.key
from contested as k
join rated as r on r.call_uid = k.call_uid
join picked as c on c.call_uid = k.call_uid
order by k.settled, k.given desc, k.last_at desc nulls last, k.call_uid, r.adjudication, r.created_at nulls first,
         r.author, r.key_space, r.key
