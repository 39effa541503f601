-- chosen_calls: one row is one of the chosen calls with what it was given and what came back.
-- steps: picked
with
chosen as (
    select cast(call_uid as varchar(36)) as call_uid, conversation_id, tool_name, arguments, arguments_state, result,
           result_state, outcome, gate_reason, error_text, source, created_at
    from matching
    where array_contains($chosen, cast(call_uid as varchar(36)))
)
select * from chosen
order by call_uid
