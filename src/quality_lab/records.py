"""The nouns that walk the line: frozen records that know nothing of files, databases, models or pages.

JSON of the outside world (arguments, results, message content) stands here as JSON *text*, whose values are
exactly those that came. Times are aware `datetime`s in UTC; None is "unknown", never "now". Durations carry
their unit in their name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

Label = Literal["good_reply", "wrong_tool", "missing_tool", "bad_args", "other"]
AuthorKind = Literal["HUMAN", "LLM", "CODE"]
Actor = Literal["model", "rule", "guard", "user", "sub_agent"]
ArgumentsState = Literal["object", "json_string", "invalid_json", "absent", "not_captured"]
ResultState = Literal["present", "absent", "pending", "truncated", "not_captured"]
ErrorOrigin = Literal["flag", "exception", "exit_code", "text"]
Outcome = Literal["ok", "error", "soft_error", "gated", "rejected", "unknown", "guard"]
SeenIn = Literal["trace", "feedback", "case"]
TargetLevel = Literal["call", "turn", "conversation"]
Effect = Literal["read", "write", "irreversible"]

DecisionAction = Literal["accept", "apply", "dismiss", "close", "reopen"]

UPSTREAM = "quality_lab"  # the key space of everything that the upstream Quality Lab emits
PUSHED_DECISION = "decision"  # begins what a push of one takes back: the copy that upstream has of it
BY_SPAN = "otel_span"  # target key space of a label that names a span of "otel" without its trace
DEFAULT_TENANT = "default"  # of what was loaded without one
BY_UID = "call_uid"  # a label's target key space where it names the call's surrogate key in the store


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    """One conversation of one tenant, as far as a format knows it."""

    key_space: str  # whose ids these are: a format's name, UPSTREAM, or "otel" for the span families
    conversation_id: str  # as given; made from content where the format has none
    source: str | None = None  # the strategy or export it came from
    model: str | None = None
    style: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    offered: tuple[str, ...] | None = None  # digests of the definitions offered; None is "not captured"


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One message of a conversation, in the order in which the model saw them."""

    key_space: str
    conversation_id: str
    position: int  # 0-based
    role: str  # as given: system, user, assistant, tool …
    text: str | None  # what a person would read; None where there is none
    content: str | None = None  # JSON text as it came, where it is more than that text
    message_id: str | None = None
    call_id: str | None = None  # of a tool's answer: the call it answers, as given
    name: str | None = None
    model: str | None = None
    created_at: datetime | None = None
    latency_ms: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    finish_reason: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """One call of one tool, with what it was given and what came back."""

    key_space: str
    key: str  # unique in its key space and tenant, and stable across re-exports; see the format's `key`
    conversation_id: str
    tool_name: str
    turn: int | None = None  # 0-based
    cycle: int | None = None  # model round within the turn, 0-based
    call_index: int | None = None  # over the whole turn, 0-based
    index_in_cycle: int | None = None  # 0-based
    message_position: int | None = None  # of the message that made the call
    call_id: str | None = None  # the provider's, as given; it may repeat
    tool_server: str | None = None
    wrapped_tool: str | None = None  # the real tool behind a dispatcher
    arguments: str | None = None  # JSON text
    arguments_state: ArgumentsState = "object"
    result: str | None = None  # JSON text
    result_state: ResultState = "present"
    is_error: bool | None = None
    error_origin: ErrorOrigin | None = None
    error_kind: str | None = None
    error_text: str | None = None
    person_refused: bool = False  # a person said no to this call
    actor: Actor = "model"
    source: str | None = None
    style: str | None = None
    model: str | None = None
    tool_definition: str | None = None  # digest of the definition that was offered under this name
    created_at: datetime | None = None
    latency_ms: float | None = None
    seen_in: SeenIn = "trace"
    contact_id: str | None = None
    message_id: str | None = None
    outbound_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolDefinition:
    """A tool as it was offered to a model. Its digest is that of name, description and schema."""

    digest: str
    name: str
    description: str | None = None
    parameters: str | None = None  # JSON Schema as JSON text; None is "not captured"
    effect: Effect | None = None  # None is "not stated"
    server: str | None = None
    seen_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Feedback:
    """One opinion of one author about a call, a turn or a conversation."""

    key_space: str  # of the feedback's own id
    key: str
    target_level: TargetLevel
    target_key_space: str
    conversation_id: str | None
    call_key: str | None = None  # `ToolCall.key` in the target's key space
    turn: int | None = None
    name: str | None = None  # of the score or annotation; None for a plain label
    label: Label | None = None
    label_raw: str | None = None
    score: str | None = None  # JSON text of the value, where it is not a label
    author_kind: AuthorKind = "HUMAN"
    author: str | None = None
    note: str | None = None
    created_at: datetime | None = None
    guide_version: str | None = None
    expected_tool: str | None = None
    expected_arguments: str | None = None  # JSON text
    adjudication: bool = False
    in_sight: bool = False  # given by somebody who saw what others say of it
    source: str | None = None
    tool_name: str | None = None  # as the export named it, for labels whose call is not here
    tenant: str | None = None  # whose call; None is that of the load


@dataclass(frozen=True, kw_only=True, slots=True)
class RegressionCase:
    """A reviewed failure kept as a case: upstream's record, and more optional keys of ours."""

    key: str  # the record's id
    record: str  # the whole line, JSON text as it came
    tool_name: str
    label: str
    title: str
    status: str
    proposal_id: str | None = None
    call_key: str | None = None
    call_uid: str | None = None  # of a case frozen here: the call's surrogate key, in place of call_key
    tenant: str | None = None  # whose case; None is that of the load
    journal_line: str | None = None  # id of the journal line that says so; None for an export's case
    created_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TrackedProposal:
    """A proposal as upstream stores it, with its status and its resolution."""

    key: str  # the record's id; the fingerprint where it has none (a preview)
    record: str  # JSON text as it came
    fingerprint: str
    tool_name: str
    source: str
    label: str
    status: str | None  # None for a preview
    created_at: datetime | None = None
    updated_at: datetime | None = None
    decided_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What somebody decided about a proposal; its state is the fold of all decisions on its fingerprint."""

    key: str  # id of the journal line
    fingerprint: str  # kind:source:tool:label
    action: DecisionAction
    tenant: str | None = None  # whose proposal; None is that of the load
    kind: str | None = None  # of the resolution: regression_case, pull_request …
    ref: str | None = None
    url: str | None = None
    note: str | None = None
    owner: str | None = None
    due: str | None = None  # a day
    expectation: str | None = None  # what is to come of it, in words
    effective_at: datetime | None = None  # None: when it was decided
    decided_at: datetime | None = None
    author: str | None = None
    seen: str | None = None  # the decision that stood when this one was taken


@dataclass(frozen=True, kw_only=True, slots=True)
class Queue:
    """A draw of calls to be reviewed, as it was when it was made: `sampling` says how calls are drawn."""

    key: str  # id of the journal line
    strategy: str
    seed: int
    size: int  # calls asked for
    overlap: float  # share of them that two people review
    reviewers: tuple[str, ...]
    filters: str  # JSON text: the common filters that picked the frame, times in UTC
    strata: str  # JSON text: a list of stratum, calls, drawn
    frame: str  # JSON text: a list of tool_name, stratum, calls; REVIEWED are those that were known before
    tenant: str | None = None  # whose calls, where all are of one; None is that of the load
    drawn_at: datetime | None = None
    author: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class QueuedCall:
    """One call of such a draw."""

    key: str  # id of the journal line
    queue: str  # id of the queue's line
    call_uid: str
    tool_name: str
    stratum: str
    probability: float  # of having been drawn
    position: int  # 1-based, in the order of review
    reviewers: tuple[str, ...]  # who is asked; nobody in particular where empty
    tenant: str | None = None  # whose call; None is that of the load


@dataclass(frozen=True, kw_only=True, slots=True)
class Retraction:
    """A journal line that takes another journal line back."""

    key: str
    retracts: str
    author: str | None = None
    created_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SetAside:
    """A line that a format knows and that holds nothing for this lab, with a word on why."""

    kind: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Reject:
    """A line that broke its format's promise, kept so that nothing vanishes."""

    source: str  # file name or URL, as given
    line: int  # 1-based; the number of the object where the file is not line by line
    path: str  # dotted path of the field; "" is the whole line
    reason: str
    text: str  # the line as it came


Record = (
    Conversation
    | Message
    | ToolCall
    | ToolDefinition
    | Feedback
    | RegressionCase
    | TrackedProposal
    | Decision
    | Queue
    | QueuedCall
    | Retraction
    | SetAside
)


@dataclass(kw_only=True, slots=True)
class ReadNotes:
    """What a reader saw and did not understand, and what it joined: the stuff of the loss report."""

    unknown_fields: dict[str, int] = field(default_factory=dict)  # dotted path → times seen
    unmapped_labels: dict[str, int] = field(default_factory=dict)  # as they came → times seen
    not_understood: dict[str, int] = field(default_factory=dict)  # record types, span kinds → times seen
    merged: dict[str, int] = field(default_factory=dict)  # rule → records that were the same thing twice
    missing: dict[str, int] = field(default_factory=dict)  # e.g. "call without result" → times
    glued: int = 0  # objects that shared a line with another
    truncated_input: bool = False  # a compressed file that ends too early

    def count(self, where: dict[str, int], name: str, times: int = 1) -> None:
        """Add *times* to the count of *name* in one of the dictionaries above."""
        where[name] = where.get(name, 0) + times
