"""Where people work in JupyterLab: `review` labels calls, `decide` goes through proposals.

    from quality_lab.jupyter import decide, review
    review(lab, lab.calls(outcome="gated", limit=10), reviewer="dana@example.com")
    decide(lab)

What they write is a line of the journal at once, through `lab.label`, `adjudicate`, `decide` and `undo`.
"""

from __future__ import annotations

from quality_lab.jupyter.widgets import decide, review

__all__ = ["decide", "review"]
