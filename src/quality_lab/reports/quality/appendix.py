"""How every figure of the report is defined."""

from __future__ import annotations

from quality_lab.reports.blocks import Html, join, section, tag

_DEFINITIONS = """
Call: a tool called by the agent. Guards' rows and calls by the user's side are not counted.

Failed: the call raised an error, or its result says no; of the calls whose outcome is known and that no
person refused. A call that was turned away is not a failure.

Turned away: the application said “not now”: a verification, an approval, an operator or another stage was
needed first.

Empty: the call reported no error, and its result holds nothing: null, an empty text, list or object.

Reviewed and judged: a call is reviewed if a person labelled it, and judged by the label that over half of
its reviewers gave last; an adjudication settles it. Without a majority it is disputed. Judged wrong is
wrong_tool or bad_args, of the reviewed calls. missing_tool is not the failure of the tool it stands on.

Interval: in brackets, the 95 % interval (Wilson) at the number of independent calls that these calls are
worth, as calls of one conversation resemble each other. Under ten conversations that cannot be estimated.

Better or worse: the difference of two rates with its interval (Newcombe); beyond noise where that leaves
out zero.

Finding: a tool stands out if the lower bound of its share, at a level of 1 % shared among all tools, lies
above the share of all other tools and above 10 % (failed, turned away) or 5 % (empty). A share of wrong
arguments rose if whole conversations, shuffled among the days, reach such a rise less than once in twenty,
over all tools and days. A finding needs 20 calls, or 16 reviewed ones; findings are ordered by the calls a
week that they surely concern.
"""


def appendix() -> Html:
    """Return the definitions as one short list."""
    pairs = (paragraph.split(": ", 1) for paragraph in _DEFINITIONS.strip().split("\n\n"))
    rows = join(join([tag("dt", name), tag("dd", _sentence(words))]) for name, words in pairs)
    return section("definitions", "How the figures are defined", tag("dl", rows, class_="words"))


def _sentence(words: str) -> str:
    flat = " ".join(words.split())
    return flat[:1].upper() + flat[1:]
