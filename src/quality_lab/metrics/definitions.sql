-- One row is a definition of a tool as it was offered to a model: when it was seen, what calls made under it came to,
-- and the sums of the interval of their error rate.
-- steps: picked, agent_calls
with
per_conversation as (
    select tool_definition as digest, conversation_uid,
           count(*) as calls, min(created_at) as first_at, max(created_at) as last_at,
           count(case when outcome not in ('unknown', 'rejected') then 1 end) as m,
           count(case when outcome in ('error', 'soft_error') then 1 end) as y
    from agent_calls
    where in_trace and tool_definition is not null
    group by tool_definition, conversation_uid
),
counted as (
    select digest, sum(calls) as calls, min(first_at) as first_at, max(last_at) as last_at,
           sum(m) as error_n, sum(y) as error_y, count(case when m > 0 then 1 end) as error_conversations,
           sum(y * y) as error_yy, sum(y * m) as error_ym, sum(m * m) as error_mm
    from per_conversation
    group by digest
),
known as (
    select digest, min(name) as name, min(description) as description, min(parameters) as parameters,
           min(first_at) as first_at, max(last_at) as last_at
    from tool_definitions
    where cardinality($tools) = 0 or array_contains($tools, name)
    group by digest
)
select k.name as tool_name, k.digest, k.description, k.parameters,
       case when k.first_at is null or c.first_at < k.first_at then c.first_at else k.first_at end as first_at,
       case when k.last_at is null or c.last_at > k.last_at then c.last_at else k.last_at end as last_at,
       coalesce(c.calls, 0) as calls,
       coalesce(c.error_n, 0) as error_n, coalesce(c.error_y, 0) as error_y,
       coalesce(c.error_conversations, 0) as error_conversations,
       coalesce(c.error_yy, 0) as error_yy, coalesce(c.error_ym, 0) as error_ym, coalesce(c.error_mm, 0) as error_mm
from known as k
left join counted as c on c.digest = k.digest
where c.digest is not null or not $picks_calls
