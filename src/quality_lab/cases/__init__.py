"""Reviewed failures kept as regression cases: records that the upstream runner takes too.

    from_proposal.py   a case out of a tracked proposal, as upstream makes it

What a case demands is judged in the other wing; here it is only written down.
"""
