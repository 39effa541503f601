-- placed: one row is a label that counts and is asked for, with the call that it is about.
placed as (
    select feedback_uid, label, created_at as labelled_at, tenant, coalesce(tool_name, '') as tool_name,
           coalesce(source, '') as source, call_uid, called_at
    from standing
    where label is not null
      and asked_for
)
