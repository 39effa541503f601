-- One row is a tool that was called and another that a reviewer named in its place: the calls of which that stands
-- (y, and the sums of the interval), among the reviewed calls of the tool that was called (n), with three examples.
-- steps: picked, agent_calls, labels, judged
with
reviewed_calls as (
    select c.call_uid, c.conversation_uid, c.tool_name, c.wrapped_tool, c.created_at, j.verdict
    from agent_calls as c
    join judged as j on j.call_uid = c.call_uid
),
sizes as (
    select tool_name, conversation_uid, count(*) as m
    from reviewed_calls
    group by tool_name, conversation_uid
),
tools as (
    select tool_name, sum(m) as n, count(*) as conversations, sum(m * m) as mm
    from sizes
    group by tool_name
),
-- named_in: one row is a tool that a reviewer's latest label names; a word that settled the call otherwise undoes it
named_in as (
    select c.call_uid, c.conversation_uid, c.tool_name, c.created_at, l.expected_tool,
           max(case when l.label = 'wrong_tool' then 1 else 0 end) as wrong_tool,
           max(case when l.label = 'missing_tool' then 1 else 0 end) as missing_tool
    from label_rows as l
    join reviewed_calls as c on c.call_uid = l.call_uid
    left join ranked as r on r.feedback_uid = l.feedback_uid
    where l.label is not null
      and l.label <> 'good_reply'
      and l.asked_for
      and (cardinality($labels) = 0 or array_contains($labels, l.label))
      and l.expected_tool is not null
      and l.expected_tool <> c.tool_name
      and (c.wrapped_tool is null or l.expected_tool <> c.wrapped_tool)
      and (r.feedback_uid is null or (r.age = 1 and (r.settled = 0 or r.adjudication or l.label = c.verdict)))
    group by c.call_uid, c.conversation_uid, c.tool_name, c.created_at, l.expected_tool
),
placed as (
    select *,
           row_number() over (
               partition by tool_name, expected_tool order by created_at desc nulls last, call_uid
           ) as place
    from named_in
),
hits as (
    select tool_name, expected_tool, conversation_uid, count(*) as y,
           sum(wrong_tool) as wrong_tool, sum(missing_tool) as missing_tool, max(created_at) as last_at,
           max(case when place = 1 then cast(call_uid as varchar(36)) end) as example_1,
           max(case when place = 2 then cast(call_uid as varchar(36)) end) as example_2,
           max(case when place = 3 then cast(call_uid as varchar(36)) end) as example_3
    from placed
    group by tool_name, expected_tool, conversation_uid
),
described as (
    select name, description,
           row_number() over (partition by name order by last_at desc nulls last, digest) as newest
    from tool_definitions
    where description is not null
),
summed as (
    select h.tool_name, h.expected_tool, sum(h.y) as y, sum(h.y * h.y) as yy, sum(h.y * s.m) as ym,
           sum(h.wrong_tool) as wrong_tool, sum(h.missing_tool) as missing_tool, max(h.last_at) as last_at,
           max(h.example_1) as example_1, max(h.example_2) as example_2, max(h.example_3) as example_3
    from hits as h
    join sizes as s on s.tool_name = h.tool_name and s.conversation_uid = h.conversation_uid
    group by h.tool_name, h.expected_tool
)
select u.tool_name as called, u.expected_tool as expected, u.y, u.yy, u.ym, t.n, t.conversations, t.mm,
       u.wrong_tool, u.missing_tool, u.last_at, u.example_1, u.example_2, u.example_3,
       c.description as called_description, e.description as expected_description
from summed as u
join tools as t on t.tool_name = u.tool_name
left join described as c on c.name = u.tool_name and c.newest = 1
left join described as e on e.name = u.expected_tool and e.newest = 1
order by u.y desc, called, expected
