"""The sessions of a Claude Code file, put together line by line."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from quality_lab.formats.anthropic_blocks import Blocks, Result, ask, blocks_in
from quality_lab.formats.chat import Setting
from quality_lab.formats.claude_entries import Entry
from quality_lab.formats.claude_refusals import PersonsNo, feedback_of, kind_of, refusal_in
from quality_lab.formats.contract import Reading
from quality_lab.formats.exact import restored
from quality_lab.formats.exchange import Called, Exchange, Said
from quality_lab.formats.json_pieces import Pieces, first, integer_in, number_in, object_in, string_in, word
from quality_lab.formats.moments import moment_of
from quality_lab.formats.validation import Refused
from quality_lab.records import Conversation, Record, ToolCall

_LATEST = 2**31 - 2**20  # seconds; a place that leaves room for a million messages after it


@dataclass(slots=True)
class _Session:
    """A session on its way."""

    id: str
    main: Exchange
    whole: bool  # the file holds its beginning
    chains: dict[str, Exchange] = field(default_factory=dict)  # sub-agents'
    open: dict[str, Said] = field(default_factory=dict)  # the model's message that may go on, by chain
    moments: list[datetime] = field(default_factory=list)
    model: str | None = None
    last_line: int = 0
    refusals: list[PersonsNo] = field(default_factory=list)


class Sessions:
    """All sessions of one file, of which what is known is told turn by turn."""

    def __init__(self, reading: Reading, name: str) -> None:
        self._reading, self._notes, self._name = reading, reading.notes, name
        self._sessions: dict[str, _Session] = {}
        self._current: str | None = None
        self._lines: set[int] = set()  # with messages
        self._seen: set[tuple[str, int]] = set()  # uuid and hash of the message
        self._uuids: set[str] = set()
        self._written: dict[str, str] = {}  # id of a call → session in which it stood first
        self.turned = False  # a person has spoken since records were told last

    def speaks(self, line: int) -> bool:
        """Say whether there are messages on this line."""
        return line in self._lines

    @staticmethod
    def only_session(texts: list[bytes]) -> str | None:
        """Return the session that all messages belong to, whatever stands for it before it has a name."""
        found = {word(object_in(text) or {}, "session_id", "sessionId") for text in texts} - {None, "default"}
        return found.pop() if len(found) == 1 else None

    def take(self, entry: Entry, line: int) -> None:
        """Take in a line with a message.

        Raises:
            Refused: it holds none.
        """
        message = object_in(bytes(entry.message))
        if message is None:
            raise Refused("message", "wanted an object")
        blocks = blocks_in(message.get("content"), "message.content", self._notes)
        moment = moment_of(entry.timestamp, "timestamp")
        if entry.uuid is not None:
            mark = (entry.uuid, hash(bytes(entry.message)))
            if mark in self._seen:
                self._notes.count(self._notes.merged, "line written again")
                return
            self._seen.add(mark)
            self._uuids.add(entry.uuid)
        session = self._session(entry, moment)
        self._lines.add(line)
        session.last_line = line
        if moment is not None:
            session.moments.append(moment)
        chain = entry.chain
        exchange = self._exchange(session, chain)
        if entry.type == "assistant":
            self._model_speaks(session, chain, exchange, message, blocks, moment, line)
        else:
            self._others_speak(session, chain, exchange, entry, message, blocks, moment, line)

    def _session(self, entry: Entry, moment: datetime | None) -> _Session:
        name = entry.sessionId or entry.session_id or self._current or _unnamed(entry)
        agent = bool(entry.isSidechain) and entry.agentId is not None
        if agent and name not in self._sessions:  # a sub-agent's own file names its session, not itself
            name = f"{name}/agent-{entry.agentId}"
        elif not agent:
            self._current = name
        if name not in self._sessions:
            parent = string_in(bytes(entry.parentUuid))
            whole = parent is None or parent in self._uuids
            main = Exchange(self._notes)
            if not whole and moment is not None:
                main.position = min(max(int(moment.timestamp()), 0), _LATEST)
            self._sessions[name] = _Session(name, main, whole)
        return self._sessions[name]

    def _exchange(self, session: _Session, chain: str) -> Exchange:
        if not chain:
            return session.main
        return session.chains.setdefault(chain, Exchange(self._notes, beside=session.main))

    def _model_speaks(
        self,
        session: _Session,
        chain: str,
        exchange: Exchange,
        message: Pieces,
        blocks: Blocks,
        moment: datetime | None,
        line: int,
    ) -> None:
        message_id, model = word(message, "id"), word(message, "model")
        said = session.open.get(chain)
        again = [use for use in blocks.uses if self._written.get(word(use, "id") or "") is not None]
        if again and len(again) == len(blocks.uses) and (said is None or said.message_id != message_id):
            self._notes.count(self._notes.merged, "message written again in a resumed session")
            return
        if said is None or message_id is None or said.message_id != message_id:
            said = exchange.say("assistant", blocks.text, line=line)
            said.message_id, said.model, said.created_at = message_id, model, moment
            said.content = blocks.content
            session.open[chain] = said
        else:
            self._notes.count(self._notes.merged, "message spread over lines")
            if blocks.text is not None:
                said.text = blocks.text if said.text is None else f"{said.text}\n{blocks.text}"
            if blocks.content is not None:
                both = said.content is not None
                said.content = (
                    f"{said.content[:-1]},{blocks.content[1:]}" if both and said.content else blocks.content
                )
        usage = object_in(message.get("usage")) or {}
        if usage:  # written with every line; the last knows best
            said.input_tokens = integer_in(usage.get("input_tokens"))
            said.output_tokens = integer_in(usage.get("output_tokens"))
        said.finish_reason = word(message, "stop_reason") or said.finish_reason
        if model is not None and model != "<synthetic>":
            session.model = session.model or model
        for place, use in enumerate(blocks.uses):
            call_id = word(use, "id")
            if call_id is not None and call_id in self._written:
                self._notes.count(self._notes.merged, "call written again")
                continue
            call = ask(exchange, said, use, f"message.content[{place}]", line=line)
            call.created_at, call.actor = moment, "sub_agent" if chain else "model"
            if call_id is not None:
                self._written[call_id] = session.id

    def _others_speak(
        self,
        session: _Session,
        chain: str,
        exchange: Exchange,
        entry: Entry,
        message: Pieces,
        blocks: Blocks,
        moment: datetime | None,
        line: int,
    ) -> None:
        for result in blocks.results:
            self._result(session, exchange, result, entry, moment, line)
        if blocks.text is None and not blocks.more:
            return
        if blocks.results and blocks.text is None:
            return
        person = not (chain or blocks.results or entry.isMeta or entry.isCompactSummary)
        session.open.pop(chain, None)
        said = exchange.say(word(message, "role") or "user", blocks.text, line=line, person=person)
        said.content, said.message_id, said.created_at = blocks.content, entry.uuid, moment
        self.turned = self.turned or person

    def _result(
        self,
        session: _Session,
        exchange: Exchange,
        result: Result,
        entry: Entry,
        moment: datetime | None,
        line: int,
    ) -> None:
        said = exchange.say("tool", result.text, line=line, person=False)
        said.call_id, said.message_id, said.created_at = result.call_id, entry.uuid, moment
        content = None if result.content is None else result.content.decode()
        said.content = None if content is None or content.startswith('"') else content
        call = exchange.asker(result.call_id)
        tool_name = None if call is None else call.tool_name
        no = refusal_in(result.text, string_in(entry.beside), tool_name) if result.failed else None
        if no is not None and result.call_id is not None:
            key = f"{session.id}#{result.call_id}"
            session.refusals.append(PersonsNo(line, key, tool_name, no.words, moment))
        if call is None:
            return
        call.answered(content, position=said.position, failed=result.failed, error_text=result.text)
        if no is not None:
            call.person_refused, call.is_error, call.error_origin, call.error_text = True, None, None, None
            return
        if result.failed and result.text is not None:
            call.error_kind = kind_of(result.text)
        more = object_in(entry.beside) if entry.beside[:1] == b"{" else None
        call.latency_ms = number_in(first(more or {}, "durationMs", "totalDurationMs"))

    # -- what is told ---------------------------------------------------------------------------------------

    def told(self, *, at_last: bool) -> tuple[dict[int, list[Record]], set[int]]:
        """Return the records of each line of which all is known, and the lines whose calls still wait."""
        told: dict[int, list[Record]] = {}
        waiting: set[int] = set()
        for session in self._sessions.values():
            exchanges = [session.main, *session.chains.values()]
            for exchange in exchanges:
                if at_last:
                    exchange.finish()
                waiting |= {
                    call.line for call in exchange.calls if not at_last and call.answer_position is None
                }
        for session in self._sessions.values():
            setting = self._setting(session)
            for exchange in (session.main, *session.chains.values()):
                for line, record in exchange.records(setting, key=partial(_key, session)):
                    if line not in waiting:
                        told.setdefault(line, []).append(restored(_placed(record, session)))
                exchange.messages = [said for said in exchange.messages if said.line in waiting]
                exchange.calls = [call for call in exchange.calls if call.line in waiting]
            if session.last_line and session.last_line not in waiting:
                told.setdefault(session.last_line, []).append(self._conversation(session, setting))
                session.moments, session.last_line = [], 0
            for no in session.refusals:
                told.setdefault(no.line, []).append(restored(feedback_of(no, setting)))
            session.refusals = []
        self.turned = False
        return told, waiting

    def _setting(self, session: _Session) -> Setting:
        options = self._reading.options
        return Setting(
            key_space=self._name,
            conversation_id=session.id,
            source=options.source,
            style=options.style,
        )

    @staticmethod
    def _conversation(session: _Session, setting: Setting) -> Conversation:
        return Conversation(
            key_space=setting.key_space,
            conversation_id=session.id,
            source=setting.source,
            style=setting.style,
            model=session.model,
            started_at=min(session.moments, default=None),
            ended_at=max(session.moments, default=None),
        )


def _unnamed(entry: Entry) -> str:
    return f"unnamed-{hashlib.sha256(bytes(entry.message)).hexdigest()[:16]}"


def _key(session: _Session, call: Called) -> str:
    return f"{session.id}#{call.call_id or f'{call.said.position}.{call.index}'}"


def _placed(record: Record, session: _Session) -> Record:
    """Return a call without its place, where the file does not hold the session's beginning."""
    if session.whole or not isinstance(record, ToolCall):
        return record
    return replace(record, turn=None, cycle=None, call_index=None, message_position=None)
