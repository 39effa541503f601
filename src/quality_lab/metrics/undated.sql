-- The one row counts the calls and the labels without a time, among those that the filters but the window pick.
-- steps: picked
with
undated_labels as (
    select f.feedback_uid
    from feedback as f
    left join matching as c on c.call_uid = f.call_uid
    where f.created_at is null
      and f.target_level = 'call'
      and (f.label is not null or f.label_raw is not null)
      and array_contains($author_kinds, f.author_kind)
      and (cardinality($reviewers) = 0 or array_contains($reviewers, f.author))
      and (not $picks_calls or c.call_uid is not null)
)
select (select count(*) from matching where created_at is null and outcome <> 'guard') as calls,
       (select count(*) from undated_labels) as labels
