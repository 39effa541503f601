"""Where a failed result in a Claude Code session is a person's no, and what the person said.

A refusal without words has one of a few fixed texts, behind which newer versions write what the person
said. Older versions put the person's words in the place of the result and nothing else: such a text is told
from a tool's own complaint by what complaints have (a tag, an exit code, a path, the words of errors).
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

from quality_lab.formats.chat import Setting
from quality_lab.records import Feedback

_FIXED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "User rejected tool use",
    "[Request interrupted by user for tool use]",
    "The user rejected",
)
_WORDS = re.compile(
    r"(?:the user said|following reason for the rejection|reason for rejection)\s*:\s*(.+)",
    re.IGNORECASE | re.DOTALL,
)
_ADDED = re.compile(r"\n\nNote: The user's next message may contain.*\Z", re.DOTALL)
_COMPLAINT = re.compile(
    r"""\A\s*(?:<|\[|\{|/|~|\$|\d+\s*:|warning|command\b|request\b|permission\ |claude\ requested|found\ \d
        |string\ to\ replace|(?:the\ )?file\ (?:has|does|is|content|must)|usage:|unknown|[\w./-]+:\s)
    |(?:error|exception|failed|failure|not\ found|no\ such|denied|cannot|can't\ find|unable\ to|timed\ out
        |time-?out|invalid|refused|fatal|unexpected|traceback|does\ not\ exist|not\ permitted|syntax|exceeds
        |undefined|exit\ (?:code|status)|unauthori[sz]ed|forbidden|aborted|http|stderr|interrupted)""",
    re.IGNORECASE | re.VERBOSE,
)
_LONGEST = 2_000  # characters that a person types into the box


class Refusal(NamedTuple):
    """A person's no."""

    words: str | None  # None where there are none


def refusal_in(text: str | None, beside: str | None, tool_name: str | None = None) -> Refusal | None:
    """Return the person's no that a failed result is; None where the tool failed.

    *text* is the result's, *beside* what stands beside it on its line (`toolUseResult`) where that is text.
    A tool of an MCP server may say anything in its failure, so of those only the fixed texts count.

    >>> refusal_in("please add the other file first", "Error: please add the other file first")
    Refusal(words='please add the other file first')
    >>> refusal_in("ls: x: No such file or directory", "Error: ls: x: No such file or directory") is None
    True
    """
    for said in (text, beside):
        plain = (said or "").removeprefix("Error: ")
        if plain.startswith(_FIXED):
            words = _WORDS.search(_ADDED.sub("", text or plain))
            return Refusal(words[1].strip() if words else None)
    if not text or beside is None or (tool_name or "").startswith("mcp__"):
        return None
    if (
        beside.removeprefix("Error: ") != text
        or len(text) > _LONGEST
        or _COMPLAINT.search(text)
        or not re.search(r"\w\s+\w", text)
    ):
        return None
    return Refusal(text)


def kind_of(text: str) -> str | None:
    """Return the kind of a failure, as far as the text of one names it."""
    if text.startswith("<tool_use_error>"):
        return "tool_use_error"
    if text.startswith(("Claude requested permissions", "Permission to use")):
        return "permission"
    return "exit_code" if text.startswith("Exit code ") else None


class PersonsNo(NamedTuple):
    """A person's no, on its line; the call may stand in another file."""

    line: int
    call_key: str
    tool_name: str | None
    words: str | None
    moment: datetime | None


def feedback_of(no: PersonsNo, setting: Setting) -> Feedback:
    """Return the feedback that a person's no is, on the call that it was said to."""
    return Feedback(
        key_space=setting.key_space,
        key=f"{no.call_key}/refusal",
        target_level="call",
        target_key_space=setting.key_space,
        conversation_id=setting.conversation_id,
        call_key=no.call_key,
        name="approval",
        score="false",
        author_kind="HUMAN",
        note=no.words,
        created_at=no.moment,
        source=setting.source,
        tool_name=no.tool_name,
    )
