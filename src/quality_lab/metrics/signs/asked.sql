-- asked: one row is one of the chosen calls with the last thing that the user said before it, where that is known.
-- steps: picked
with
chosen as (
    select call_uid, conversation_uid, message_position
    from picked
    where array_contains($chosen, cast(call_uid as varchar(36)))
),
last_words as (
    select chosen.call_uid, chosen.conversation_uid, max(messages.position) as position
    from chosen
    join messages on messages.conversation_uid = chosen.conversation_uid
    where messages.role = 'user'
      and messages.text is not null
      and (chosen.message_position is null or messages.position < chosen.message_position)
    group by chosen.call_uid, chosen.conversation_uid
)
select last_words.call_uid, messages.text
from last_words
join messages on messages.conversation_uid = last_words.conversation_uid
             and messages.position = last_words.position
order by last_words.call_uid
