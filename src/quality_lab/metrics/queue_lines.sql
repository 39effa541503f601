-- One row is a queue that was drawn and nobody took back, the newest first. A review that was pushed and came back is
-- as old as the journal tells it.
with
done as (
    select q.queue, count(*) as drawn, count(l.call_uid) as reviewed
    from queue_calls as q
    join queues as h on h.key = q.queue
    left join (
        select call_uid, max(created_at) as last_at
        from feedback
        where target_level = 'call' and label is not null and author_kind = 'HUMAN'
          and (key_space <> 'quality_lab'
               or 'quality_lab/' || tenant || '/' || key not in (select retracts from retractions))
        group by call_uid
    ) as l on l.call_uid = q.call_uid and (q.stratum <> 'disputed' or l.last_at >= h.drawn_at)
    group by q.queue
)
select h.key, h.drawn_at, h.author, h.strategy, h.seed, h.size, h.overlap, h.reviewers, h.filters, h.strata, h.frame,
       coalesce(d.drawn, 0) as here, coalesce(d.reviewed, 0) as reviewed
from queues as h
left join done as d on d.queue = h.key
order by h.drawn_at desc nulls last, h.key desc
