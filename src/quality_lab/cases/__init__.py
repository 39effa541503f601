"""Reviewed failures kept as regression cases: records that the upstream runner takes too.

    freezing.py        a case out of a labelled call, with the conversation, the tools and drafted rules
    from_proposal.py   a case out of a tracked proposal, as upstream makes it
    exchange.py        a conversation as models are asked, up to what is to be answered
    volatile.py        arguments that are new in every call
    identity.py        ids made from content, and cases that are the same
    masked.py          a case with stand-ins for secrets
    upstream_record.py a case with upstream's keys alone

What a case demands is judged in the other wing; here it is only written down.
"""
