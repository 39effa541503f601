-- One row is a label that stands on a call and has a note, with the tool and source of the call; the newest first.
-- steps: picked, labels, standing
with
noted as (
    select l.call_uid, coalesce(c.conversation_uid, l.conversation_uid, l.call_uid) as conversation_uid,
           coalesce(c.tool_name, l.tool_name) as tool_name, coalesce(c.source, l.source) as source,
           l.label, l.author as reviewer, l.note, l.created_at, l.key_space, l.key
    from standing as l
    left join picked as c on c.call_uid = l.call_uid
    where l.label is not null
      and l.asked_for
      and trim(l.note) <> ''
      and (cardinality($labels) = 0 or array_contains($labels, l.label))
      and (not $picks_calls or c.call_uid is not null)
)
select cast(call_uid as varchar(36)) as call_uid, cast(conversation_uid as varchar(36)) as conversation_uid, tool_name,
       source, label, reviewer, note, created_at
from noted
order by created_at desc nulls last, call_uid, label, reviewer, key_space, key
