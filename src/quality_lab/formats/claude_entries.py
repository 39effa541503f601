"""The lines of Claude Code sessions that hold a message."""

from __future__ import annotations

import msgspec

_ABSENT = msgspec.Raw()


class Entry(msgspec.Struct, kw_only=True, gc=False):
    """A line with a message. Fields that say nothing of it are named, so that they are not unknown."""

    type: str
    message: msgspec.Raw = _ABSENT
    uuid: str | None = None
    parentUuid: msgspec.Raw = _ABSENT
    logicalParentUuid: msgspec.Raw = _ABSENT
    sessionId: str | None = None
    session_id: str | None = None
    timestamp: msgspec.Raw = _ABSENT
    isSidechain: bool | None = None
    agentId: str | None = None
    parent_tool_use_id: str | None = None
    isMeta: bool | None = None
    isCompactSummary: bool | None = None
    toolUseResult: msgspec.Raw = _ABSENT
    tool_use_result: msgspec.Raw = _ABSENT
    requestId: msgspec.Raw = _ABSENT
    userType: msgspec.Raw = _ABSENT
    cwd: msgspec.Raw = _ABSENT
    version: msgspec.Raw = _ABSENT
    gitBranch: msgspec.Raw = _ABSENT
    slug: msgspec.Raw = _ABSENT
    todos: msgspec.Raw = _ABSENT
    error: msgspec.Raw = _ABSENT
    isApiErrorMessage: msgspec.Raw = _ABSENT
    isVisibleInTranscriptOnly: msgspec.Raw = _ABSENT
    isReplay: msgspec.Raw = _ABSENT
    isSynthetic: msgspec.Raw = _ABSENT
    thinkingMetadata: msgspec.Raw = _ABSENT
    imagePasteIds: msgspec.Raw = _ABSENT
    permissionMode: msgspec.Raw = _ABSENT
    promptId: msgspec.Raw = _ABSENT
    entrypoint: msgspec.Raw = _ABSENT
    origin: msgspec.Raw = _ABSENT
    sourceToolUseID: msgspec.Raw = _ABSENT
    sourceToolAssistantUUID: msgspec.Raw = _ABSENT
    teamName: msgspec.Raw = _ABSENT
    agentName: msgspec.Raw = _ABSENT

    @property
    def chain(self) -> str:
        """Return whose words these are: "" for the session's own, else the sub-agent's, where known."""
        if self.parent_tool_use_id is not None:
            return self.parent_tool_use_id
        return (self.agentId or "sidechain") if self.isSidechain else ""

    @property
    def beside(self) -> bytes:
        """Return what stands beside a result, as JSON text: what the tool really gave."""
        return bytes(self.toolUseResult) or bytes(self.tool_use_result)
