-- One row is a call of the tool $tool with arguments, for comparison; the newest $most of them.
select arguments, created_at
from tool_calls
where tool_name = $tool and tenant = $tenant and arguments is not null
      and arguments_state in ('object', 'json_string')
order by created_at desc nulls last, call_uid
limit $most
