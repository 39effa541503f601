-- One row is a call of the queue $queue with one of the reviews since it was drawn, or with none, in the order of review.
-- An earlier review of it counts too, unless it was drawn because reviewers disagreed on it; one that was pushed and
-- came back is its reviewer's.
with
queue as (
    select q.*, h.drawn_at
    from queue_calls as q
    join queues as h on h.key = q.queue
    where q.queue = $queue
),
reviews as (
    select q.call_uid, f.author, max(case when f.adjudication then 1 else 0 end) as adjudicated,
           count(*) as labels
    from queue as q
    join feedback as f on f.call_uid = q.call_uid
    where f.target_level = 'call' and f.label is not null and f.author_kind = 'HUMAN'
      and (q.stratum <> 'disputed' or f.created_at >= q.drawn_at)
      and (f.key_space <> 'quality_lab'
           or 'quality_lab/' || f.tenant || '/' || f.key not in (select retracts from retractions))
    group by q.call_uid, f.author
)
select q.key, cast(q.call_uid as varchar(36)) as call_uid, c.conversation_id, q.tool_name, c.outcome, c.error_text,
       c.source, c.created_at, q.stratum, q.probability, q.position, q.reviewers, r.author, r.adjudicated, r.labels
from queue as q
left join tool_calls as c on c.call_uid = q.call_uid
left join reviews as r on r.call_uid = q.call_uid
order by q.position, r.author nulls last
