-- earlier_tools: one row is a call of the chosen tool that was let through or turned away, once for each tool that
-- had been called before it in its conversation and had done its work; a call with none before it has one row, null.
-- steps: picked, agent_calls
with
placed as (
    select *, coalesce(created_at, timestamp '1970-01-01 00:00:00') as at,
           coalesce(turn, 0) as in_turn, coalesce(cycle, 0) as in_cycle, coalesce(call_index, 0) as in_order
    from agent_calls
),
chosen as (
    select * from placed where tool_name = $chosen and outcome in ('ok', 'gated')
),
pairs as (
    select chosen.call_uid, earlier.tool_name as earlier_tool
    from chosen
    join placed as earlier
      on earlier.conversation_uid = chosen.conversation_uid
     and earlier.outcome = 'ok'
     and earlier.tool_name <> chosen.tool_name
     and (earlier.at < chosen.at
          or (earlier.at = chosen.at
              and (earlier.in_turn < chosen.in_turn
                   or (earlier.in_turn = chosen.in_turn
                       and (earlier.in_cycle < chosen.in_cycle
                            or (earlier.in_cycle = chosen.in_cycle and earlier.in_order < chosen.in_order))))))
    group by chosen.call_uid, earlier.tool_name
)
select cast(chosen.call_uid as varchar(36)) as call_uid,
       cast(chosen.conversation_uid as varchar(36)) as conversation_uid, chosen.outcome = 'gated' as gated, chosen.gate_reason,
       pairs.earlier_tool
from chosen
left join pairs on pairs.call_uid = chosen.call_uid
order by chosen.at, chosen.in_turn, chosen.in_cycle, chosen.in_order, chosen.call_uid, pairs.earlier_tool
