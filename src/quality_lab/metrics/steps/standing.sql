-- outdated: one row is a label that a later one of its reviewer, or an adjudication, has replaced.
outdated as (
    select feedback_uid
    from ranked
    where age > 1 or (settled = 1 and not adjudication)
),
-- standing: one row is a label of the five that counts now, or one that nobody has mapped to them.
standing as (
    select l.*
    from label_rows as l
    left join outdated as o on o.feedback_uid = l.feedback_uid
    where o.feedback_uid is null
)
