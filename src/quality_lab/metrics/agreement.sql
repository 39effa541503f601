-- One row is what a reviewer said last of a call of which several spoke; an adjudication is nobody's rating. settled
-- says that the call has an adjudication, disputed that no label has a majority and nobody settled it.
-- steps: picked, labels, judged
with
rated as (
    select r.call_uid, coalesce(c.conversation_uid, r.conversation_uid, r.call_uid) as conversation_uid,
           coalesce(c.tool_name, r.tool_name) as tool_name, r.author, r.label, r.guide_version,
           r.settled = 1 as settled, r.created_at, r.key_space, r.key,
           count(*) over (partition by r.call_uid) as raters
    from ranked as r
    left join picked as c on c.call_uid = r.call_uid
    where r.age = 1
      and r.asked_for
      and not r.adjudication
      and (not $picks_calls or c.call_uid is not null)
)
select cast(r.call_uid as varchar(36)) as call_uid, cast(r.conversation_uid as varchar(36)) as conversation_uid,
       r.tool_name, r.author, r.label, r.guide_version, r.settled,
       r.created_at, r.key_space, r.key, coalesce(j.verdict = 'disputed', false) as disputed
from rated as r
left join judged as j on j.call_uid = r.call_uid
where r.raters > 1
order by r.call_uid, r.author, r.key_space, r.key
