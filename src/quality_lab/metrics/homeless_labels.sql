-- The one row counts the labels on calls that do not say of which conversation the call is.
select count(*) as labels
from feedback
where target_level = 'call' and call_uid is not null and conversation_uid is null
