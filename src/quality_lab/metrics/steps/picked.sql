-- laid in
-- matching: one row is a call that the filters pick, whenever it was made, and whether it is of the agent's side.
matching as (
    select *, outcome <> 'guard' and (cardinality($actors) > 0 or actor not in ('guard', 'user')) as of_agent
    from tool_calls
    where (cardinality($tools) = 0 or array_contains($tools, tool_name))
      and (cardinality($sources) = 0 or array_contains($sources, source))
      and (cardinality($outcomes) = 0 or array_contains($outcomes, outcome))
      and (cardinality($styles) = 0 or array_contains($styles, style))
      and (cardinality($models) = 0 or array_contains($models, model))
      and (cardinality($conversations) = 0 or array_contains($conversations, conversation_id))
      and (cardinality($contacts) = 0 or array_contains($contacts, contact_id))
      and (cardinality($messages) = 0 or array_contains($messages, message_id))
      and (cardinality($outbounds) = 0 or array_contains($outbounds, outbound_id))
      and (cardinality($tenants) = 0 or array_contains($tenants, tenant))
      and (cardinality($actors) = 0 or array_contains($actors, actor))
      and ($error is null or $error = (is_error or error_origin is not null))
),
-- picked: one row is such a call within the window; where there is one, undated calls stand outside.
picked as (
    select *
    from matching
    where ($since is null or created_at >= $since)
      and ($until is null or created_at < $until)
)
