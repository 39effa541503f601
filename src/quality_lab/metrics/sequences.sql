-- One row is a call that stands to earlier calls of its conversation as a rule says, as far as SQL can tell: where
-- equal_text is false, arguments of one length are told apart or found equal by who asks, and come for that.
-- Only calls seen in a trace export are looked at; those before may be outside of what the filters pick. Of writes whose
-- arguments have one length, each that is the first to be written so comes, for who asks to find those that are equal
-- as values; place is its place among the writes of its conversation.
-- steps: picked, agent_calls
with
effects as (
    select name, max(case when effect in ('write', 'irreversible') then 1 else 0 end) as writes,
           max(case when effect = 'read' then 1 else 0 end) as reads
    from tool_definitions
    where effect is not null
    group by name
),
made as (
    select t.call_uid, t.conversation_uid, t.conversation_id, t.tool_name, t.outcome, t.cycle, t.created_at, t.key_space,
           coalesce(e.writes, 0) as writes, coalesce(e.reads, 0) as reads,
           case when t.turn is not null then cast(t.turn as varchar(20))
                when t.key_space = 'quality_lab' then coalesce(cast(t.created_at as varchar(40)), '')
                else '' end as in_turn,
           coalesce(t.turn, 0) as turn, t.message_position, t.call_index, t.index_in_cycle,
           case when t.arguments_state = 'not_captured' then null else coalesce(md5(t.arguments), '') end as digest,
           case when t.arguments_state = 'not_captured' then null else coalesce(length(t.arguments), 0) end as size
    from tool_calls as t
    left join effects as e on e.name = t.tool_name
    where t.in_trace
      and t.outcome <> 'guard'
      and t.actor not in ('guard', 'user')
      and t.conversation_uid in (select conversation_uid from agent_calls where in_trace)
),
stepped as (
    select *,
           lag(call_uid) over in_order as uid_1,
           lag(tool_name) over in_order as tool_1, lag(outcome) over in_order as outcome_1,
           lag(cycle) over in_order as cycle_1, lag(digest) over in_order as digest_1,
           lag(size) over in_order as size_1, lag(reads) over in_order as reads_1,
           lag(call_uid, 2) over in_order as uid_2, lag(tool_name, 2) over in_order as tool_2,
           lag(digest, 2) over in_order as digest_2, lag(size, 2) over in_order as size_2,
           lag(call_uid, 3) over in_order as uid_3, lag(tool_name, 3) over in_order as tool_3,
           lag(digest, 3) over in_order as digest_3, lag(size, 3) over in_order as size_3,
           max(cycle) over (partition by conversation_uid, in_turn) as last_cycle
    from made
    window in_order as (
        partition by conversation_uid, in_turn
        order by message_position nulls first, created_at nulls first, cycle nulls first, call_index nulls first,
                 index_in_cycle nulls first, call_uid
    )
),
found as (
    select case when outcome_1 = 'gated' then 'repeated_after_gate'
                when outcome_1 in ('error', 'soft_error') then 'repeated_after_error'
                else 'repeated_call' end as rule,
           call_uid, uid_1 as before_uid, null as pair_uid, null as pair_before_uid, digest = digest_1 as equal_text
    from stepped
    where tool_name = tool_1
      and size = size_1
      and (outcome_1 = 'ok'
           or (outcome_1 in ('gated', 'error', 'soft_error') and coalesce(cycle > cycle_1, true)))
    union all
    select 'ping_pong', call_uid, uid_2, uid_1, uid_3, digest = digest_2 and digest_1 = digest_3
    from stepped
    where tool_name = tool_2
      and tool_1 = tool_3
      and tool_name <> tool_1
      and size = size_2
      and size_1 = size_3
    union all
    select 'cycle_limit', call_uid, null, null, null, true
    from stepped
    where cycle = last_cycle
      and cycle = case when $cycle_limit is not null then $cycle_limit
                       when key_space = 'quality_lab' then 4 end - 1
    union all
    select 'write_after_failed_read', call_uid, uid_1, null, null, true
    from stepped
    where writes = 1 and reads_1 = 1 and outcome_1 in ('error', 'soft_error')
),
written as (
    select conversation_uid, tool_name, size, digest, call_uid,
           row_number() over (
               partition by conversation_uid
               order by turn, message_position nulls first, created_at nulls first, cycle nulls first,
                        call_index nulls first, index_in_cycle nulls first, call_uid
           ) as place
    from made
    where writes = 1 and outcome = 'ok' and size is not null
),
alike as (
    select call_uid, place,
           lag(call_uid) over (partition by conversation_uid, tool_name, size, digest order by place) as same_uid,
           min(digest) over (partition by conversation_uid, tool_name, size) as least_digest,
           max(digest) over (partition by conversation_uid, tool_name, size) as most_digest
    from written
),
sizes as (
    select tool_name, conversation_uid, count(*) as m
    from agent_calls
    where in_trace
    group by tool_name, conversation_uid
),
every as (
    select rule, call_uid, before_uid, pair_uid, pair_before_uid, equal_text, null as place from found
    union all
    select 'written_twice', call_uid, same_uid, null, null, same_uid is not null, place
    from alike
    where same_uid is not null or least_digest <> most_digest
)
select e.rule, cast(e.call_uid as varchar(36)) as call_uid, cast(e.before_uid as varchar(36)) as before_uid,
       cast(t.conversation_uid as varchar(36)) as conversation_uid, t.conversation_id, t.tool_name, t.created_at,
       s.m as of_conversation, c.call_uid is not null as picked, e.place, e.equal_text,
       case when not e.equal_text then t.arguments end as arguments,
       case when not e.equal_text then b.arguments end as before_arguments,
       case when not e.equal_text then p.arguments end as pair_arguments,
       case when not e.equal_text then q.arguments end as pair_before_arguments
from every as e
join tool_calls as t on t.call_uid = e.call_uid
join sizes as s on s.tool_name = t.tool_name and s.conversation_uid = t.conversation_uid
left join agent_calls as c on c.call_uid = e.call_uid and c.in_trace
left join tool_calls as b on b.call_uid = e.before_uid and not e.equal_text
left join tool_calls as p on p.call_uid = e.pair_uid and not e.equal_text
left join tool_calls as q on q.call_uid = e.pair_before_uid and not e.equal_text
where c.call_uid is not null or (e.place is not null and not e.equal_text)
order by e.rule, t.tool_name, t.created_at desc nulls last, e.call_uid
