-- placed: one row is a label that counts and is asked for, with the call that it is about; group_key names its kind
-- on the calls of one tool and source.
placed as (
    select l.feedback_uid, l.created_at as labelled_at, c.call_uid, c.created_at as called_at,
           coalesce(c.tenant, l.tenant) || chr(31) || coalesce(c.tool_name, l.tool_name, '') || chr(31)
               || coalesce(c.source, l.source, '') || chr(31) || l.label as group_key
    from standing as l
    left join picked as c on c.call_uid = l.call_uid
    where l.label is not null
      and l.asked_for
      and (not $picks_calls or c.call_uid is not null)
)
