-- laid in
-- agent_calls: one row is a picked call of the agent's side. Guard rows are no calls; the user's own calls stand
-- outside unless an actor was asked for.
agent_calls as (
    select *
    from picked
    where of_agent
)
