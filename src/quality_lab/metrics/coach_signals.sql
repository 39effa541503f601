-- One row is a fault that a reviewer confirmed on a call made in the style $chosen: the newest label of each kind on
-- each call that stands and that nobody overruled. The style is that of the call; only where its export does not say,
-- that of the conversation.
-- steps: picked, labels, judged, standing
with
styled as (
    select c.*, c.style is not null as style_of_call
    from picked as c
    left join conversations as v on v.conversation_uid = c.conversation_uid
    where coalesce(c.style, v.style) = $chosen
),
faults as (
    select c.call_uid, l.label, l.author, l.note, l.expected_tool, l.expected_arguments, l.created_at as labelled_at,
           j.verdict = 'disputed' as disputed,
           row_number() over (
               partition by c.call_uid, l.label
               order by l.created_at desc nulls last, length(l.key) desc, l.key desc, l.key_space desc
           ) as place
    from standing as l
    join styled as c on c.call_uid = l.call_uid
    join judged as j on j.call_uid = l.call_uid
    where l.label in ('wrong_tool', 'missing_tool', 'bad_args')
      and l.asked_for
      and (cardinality($labels) = 0 or array_contains($labels, l.label))
      and (j.verdict = l.label or j.verdict = 'disputed')
),
last_words as (
    select c.call_uid, c.conversation_uid, max(m.position) as position
    from styled as c
    join faults as f on f.call_uid = c.call_uid
    join messages as m on m.conversation_uid = c.conversation_uid
    where m.role = 'user'
      and m.text is not null
      and (c.message_position is null or m.position < c.message_position)
    group by c.call_uid, c.conversation_uid
),
told as (
    select w.call_uid, max(m.text) as asked
    from last_words as w
    join messages as m on m.conversation_uid = w.conversation_uid and m.position = w.position
    group by w.call_uid
)
select cast(c.call_uid as varchar(36)) as call_uid, c.conversation_id, c.tool_name, c.source, c.arguments, c.result,
       coalesce(c.is_error, c.error_origin is not null) as error, c.outcome, c.created_at as called_at,
       f.label, f.author as reviewer, f.note, f.expected_tool, f.expected_arguments, f.labelled_at, f.disputed,
       t.asked, c.style_of_call
from faults as f
join styled as c on c.call_uid = f.call_uid
left join told as t on t.call_uid = f.call_uid
where f.place = 1
order by f.labelled_at desc nulls last, c.call_uid, f.label
