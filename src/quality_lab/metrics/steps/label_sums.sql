-- laid in
-- label_sums: one row is a label within a group: its rows as given, the calls on which it stands, and the sums of its
-- share's interval. It reads given (labels as they were given, by group and label) and per_conversation (reviewed calls
-- of a conversation, by group: m of them, and for each label the calls on which it stands).
label_sums as (
    with
    sums as (
        select grouped_by, sum(m) as n, count(*) as conversations, sum(m * m) as mm,
               sum(good_reply) as good_reply, sum(good_reply * good_reply) as good_reply_yy, sum(good_reply * m) as good_reply_ym,
               sum(wrong_tool) as wrong_tool, sum(wrong_tool * wrong_tool) as wrong_tool_yy, sum(wrong_tool * m) as wrong_tool_ym,
               sum(missing_tool) as missing_tool, sum(missing_tool * missing_tool) as missing_tool_yy, sum(missing_tool * m) as missing_tool_ym,
               sum(bad_args) as bad_args, sum(bad_args * bad_args) as bad_args_yy, sum(bad_args * m) as bad_args_ym,
               sum(other) as other, sum(other * other) as other_yy, sum(other * m) as other_ym,
               sum(disputed) as disputed, sum(disputed * disputed) as disputed_yy, sum(disputed * m) as disputed_ym,
               sum(disputed_rows) as disputed_rows, max(disputed_at) as disputed_at
        from per_conversation
        group by grouped_by
    ),
    named as (
        select label
        from (values ('good_reply'), ('wrong_tool'), ('missing_tool'), ('bad_args'), ('other'), ('unmapped'), ('disputed'))
            as every_label (label)
    ),
    every as (
        select e.grouped_by, n.label
        from (select grouped_by from given union select grouped_by from sums) as e
        cross join named as n
    )
    select n.grouped_by, n.label,
           coalesce(case when n.label = 'disputed' then s.disputed_rows else g.rows_given end, 0) as rows_given,
           case when n.label = 'disputed' then s.disputed_at else g.last_at end as last_at,
           coalesce(g.unmapped_calls, 0) as unmapped_calls,
           coalesce(g.elsewhere, 0) as elsewhere,
           coalesce(s.n, 0) as n, coalesce(s.conversations, 0) as conversations, coalesce(s.mm, 0) as mm,
           coalesce(case n.label when 'good_reply' then s.good_reply
                        when 'wrong_tool' then s.wrong_tool
                        when 'missing_tool' then s.missing_tool
                        when 'bad_args' then s.bad_args
                        when 'other' then s.other
                        when 'disputed' then s.disputed end, 0) as y,
           coalesce(case n.label when 'good_reply' then s.good_reply_yy
                        when 'wrong_tool' then s.wrong_tool_yy
                        when 'missing_tool' then s.missing_tool_yy
                        when 'bad_args' then s.bad_args_yy
                        when 'other' then s.other_yy
                        when 'disputed' then s.disputed_yy end, 0) as yy,
           coalesce(case n.label when 'good_reply' then s.good_reply_ym
                        when 'wrong_tool' then s.wrong_tool_ym
                        when 'missing_tool' then s.missing_tool_ym
                        when 'bad_args' then s.bad_args_ym
                        when 'other' then s.other_ym
                        when 'disputed' then s.disputed_ym end, 0) as ym
    from every as n
    left join given as g on g.grouped_by is not distinct from n.grouped_by and g.label = n.label
    left join sums as s on s.grouped_by is not distinct from n.grouped_by
)
