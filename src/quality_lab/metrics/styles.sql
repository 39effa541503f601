-- One row is a style, with the calls that were made in it.
-- steps: picked
with
styled as (
    select coalesce(c.style, v.style) as style
    from picked as c
    left join conversations as v on v.conversation_uid = c.conversation_uid
)
select style, count(*) as calls
from styled
where style is not null
group by style
order by calls desc, style
