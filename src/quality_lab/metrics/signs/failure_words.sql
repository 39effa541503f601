-- failure_words: one row is what failed calls of one of the chosen tools say of themselves, and how many say it.
-- steps: picked, agent_calls
with
said as (
    select tool_name,
           substr(trim(coalesce(error_text, get_json_object(result, '$.error'), get_json_object(result, '$.reason'),
                                get_json_object(result, '$.note'))), 1, 120) as words
    from agent_calls
    where in_trace and outcome in ('error', 'soft_error') and array_contains($chosen, tool_name)
)
select tool_name, words, count(*) as calls
from said
where words is not null and words <> ''
group by tool_name, words
order by tool_name, calls desc, words
limit $most
