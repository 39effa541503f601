"""The fields of OpenAI's chat requests and responses, and of the logs that people make of them."""

from __future__ import annotations

from datetime import datetime

import msgspec

from quality_lab.formats.moments import moment_of
from quality_lab.formats.validation import Amount, joined

_ABSENT = msgspec.Raw()


class ConversationFields(msgspec.Struct, kw_only=True, gc=False):
    """A line: a conversation, a request, a response, or a request beside its response.

    Parameters of a request that say nothing about its conversation are named here, so that they are not
    reported as unknown.
    """

    id: str | int | None = None
    conversation_id: str | int | None = None
    object: str | None = None
    model: str | None = None
    created: msgspec.Raw = _ABSENT
    created_at: msgspec.Raw = _ABSENT
    timestamp: msgspec.Raw = _ABSENT
    messages: msgspec.Raw = _ABSENT
    tools: msgspec.Raw = _ABSENT
    functions: msgspec.Raw = _ABSENT
    request: msgspec.Raw = _ABSENT
    response: msgspec.Raw = _ABSENT
    choices: msgspec.Raw = _ABSENT
    usage: msgspec.Raw = _ABSENT
    tool_choice: msgspec.Raw = _ABSENT
    function_call: msgspec.Raw = _ABSENT
    parallel_tool_calls: msgspec.Raw = _ABSENT
    temperature: msgspec.Raw = _ABSENT
    top_p: msgspec.Raw = _ABSENT
    n: msgspec.Raw = _ABSENT
    seed: msgspec.Raw = _ABSENT
    stop: msgspec.Raw = _ABSENT
    stream: msgspec.Raw = _ABSENT
    stream_options: msgspec.Raw = _ABSENT
    max_tokens: msgspec.Raw = _ABSENT
    max_completion_tokens: msgspec.Raw = _ABSENT
    response_format: msgspec.Raw = _ABSENT
    reasoning_effort: msgspec.Raw = _ABSENT
    presence_penalty: msgspec.Raw = _ABSENT
    frequency_penalty: msgspec.Raw = _ABSENT
    logprobs: msgspec.Raw = _ABSENT
    store: msgspec.Raw = _ABSENT
    service_tier: msgspec.Raw = _ABSENT
    body: msgspec.Raw = _ABSENT  # of a batch: what stands round requests and responses
    custom_id: msgspec.Raw = _ABSENT
    method: msgspec.Raw = _ABSENT
    url: msgspec.Raw = _ABSENT
    status_code: msgspec.Raw = _ABSENT
    request_id: msgspec.Raw = _ABSENT
    error: msgspec.Raw = _ABSENT
    system_fingerprint: msgspec.Raw = _ABSENT

    def given_id(self) -> str | None:
        """Return the id of the conversation, where the line gives one; that of a completion is none."""
        given = self.conversation_id
        if given is None and not bytes(self.choices):
            given = self.id
        return None if given is None or given == "" else str(given)

    def moment(self, below: str) -> datetime | None:
        """Return the time of the line."""
        for name in ("created_at", "created", "timestamp"):
            moment = moment_of(getattr(self, name), joined(below, name))
            if moment is not None:
                return moment
        return None


class ChoiceFields(msgspec.Struct, kw_only=True, gc=False):
    """One of the answers in a response."""

    message: msgspec.Raw
    finish_reason: str | None = None
    index: int | None = None
    logprobs: msgspec.Raw = _ABSENT


class UsageFields(msgspec.Struct, kw_only=True, gc=False):
    """What a response says it used."""

    prompt_tokens: Amount | None = None
    completion_tokens: Amount | None = None
