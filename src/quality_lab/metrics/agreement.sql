-- One row is what a reviewer said last of a call of which several spoke unseen by each other; an adjudication is nobody's
-- rating. Where a reviewer's last word was given in sight of the others' there is a row for it too (in_sight), to be
-- counted and left out: what the reviewer said unseen, if anything, stands in a row of its own. settled says that the
-- call has an adjudication, disputed that no label has a majority and nobody settled it.
-- steps: picked, labels, judged
with
said as (
    select r.call_uid, coalesce(c.conversation_uid, r.conversation_uid, r.call_uid) as conversation_uid,
           coalesce(c.tool_name, r.tool_name) as tool_name, r.author, r.label, r.guide_version,
           r.settled = 1 as settled, r.created_at, r.key_space, r.key, r.in_sight, r.age,
           row_number() over (
               partition by r.call_uid, r.in_sight,
                            case when r.author is not null then 'by ' || r.author
                                 else 'unnamed ' || r.key_space || ' ' || r.key end
               order by r.age
           ) as age_of_kind
    from ranked as r
    left join picked as c on c.call_uid = r.call_uid
    where r.asked_for
      and not r.adjudication
      and (not $picks_calls or c.call_uid is not null)
),
rated as (
    select *, count(case when not in_sight then 1 end) over (partition by call_uid) as raters
    from said
    where case when in_sight then age = 1 else age_of_kind = 1 end
)
select cast(r.call_uid as varchar(36)) as call_uid, cast(r.conversation_uid as varchar(36)) as conversation_uid,
       r.tool_name, r.author, r.label, r.guide_version, r.settled,
       r.created_at, r.key_space, r.key, r.in_sight, coalesce(j.verdict = 'disputed', false) as disputed
from rated as r
left join judged as j on j.call_uid = r.call_uid
where r.raters > 1 or r.in_sight
order by r.call_uid, r.author, r.key_space, r.key
