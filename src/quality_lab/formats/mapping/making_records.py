"""One record of a home-grown file made into calls, answers, messages and labels, as its map says."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import get_args

import msgspec

from quality_lab.formats.contract import Reading
from quality_lab.formats.json_pieces import object_of
from quality_lab.formats.making import quick
from quality_lab.formats.mapping.endings import Answer, failure, length_ms
from quality_lab.formats.mapping.one_record import OneRecord, refuse_doubles
from quality_lab.formats.mapping.paths import Node
from quality_lab.formats.mapping.rules import AnswerRule, CallRule, LabelRule, Map, MessageRule, RecordRule
from quality_lab.formats.mapping.unmapped import Tree, tree_of_paths, unmapped
from quality_lab.formats.mapping.values import Place
from quality_lab.formats.upstream import label_of
from quality_lab.formats.validation import Refused, tally
from quality_lab.records import Actor, AuthorKind, Conversation, Feedback, Message, Record, SetAside, ToolCall

_tool_call = quick(ToolCall)
_whole = msgspec.json.Decoder(msgspec.Raw)
_ACTORS = get_args(Actor)
_AUTHOR_KINDS = get_args(AuthorKind)


class RecordMaker:
    """Makes the records of one file, in the order of its lines; it counts places as it goes."""

    def __init__(self, a_map: Map, reading: Reading, *, cells: bool) -> None:
        """Keep the map; *cells*: the file is a table, whose values are all texts."""
        self._map, self._reading, self._cells = a_map, reading, cells
        self._key_space = a_map.key_space
        self._trees: dict[int, Tree] = {}
        self._conversation: str | None = None  # where a whole file is one, or several that begin in it
        self._times: Counter[object] = Counter()  # how often each key came, and each place was taken
        self._told: set[str] = set()  # conversations

    def make(self, text: bytes, line: int) -> tuple[Record | Answer, ...]:
        """Return what one record becomes.

        Raises: Refused, msgspec.DecodeError.
        """
        try:
            top = Node(text.strip(), object_of(text))
        except (msgspec.MsgspecError, RecursionError):  # no object, or one that has keys of lone surrogates
            _whole.decode(text)
            top = Node(text.strip())
        if top.raw[:1] == b"{":
            refuse_doubles(top)
        elif top.raw[:1] != b"[":
            raise Refused("", "wanted an object or a list")
        below = self._map.file.records
        if not below:
            return self._records(OneRecord(top))
        for path in unmapped(top, tree_of_paths([below])):
            tally(self._reading.notes, self._reading.notes.unknown_fields, path)
        return tuple(made for node in top.all(below) for made in self._records(OneRecord(node)))

    def _records(self, record: OneRecord) -> tuple[Record | Answer, ...]:
        rule = self._rule_of(record)
        if isinstance(rule, SetAside):
            return (rule,)
        found = list(self._nouns(rule, record))
        for path in unmapped(record.top, self._tree(rule)):
            tally(self._reading.notes, self._reading.notes.unknown_fields, path)
        if found:
            return tuple(found)
        tally(self._reading.notes, self._reading.notes.not_understood, "record without any noun of the map")
        return (SetAside(kind="record", reason="none of the map's nouns stands in it"),)

    def _rule_of(self, record: OneRecord) -> RecordRule | SetAside:
        place = record.place
        for rule in self._map.records:
            if all(place.holds(condition) for condition in rule.when):
                return SetAside(kind="record", reason="the map skips it") if rule.skip else rule
        paths = dict.fromkeys(one.path for rule in self._map.records for one in rule.when)
        shown = ", ".join(
            f"{path.text} = {(node.text or 'null')[:60]}"
            for path in paths
            if (node := place.node(path)) is not None
        )
        kind = (
            f"record with {shown}" if shown else f"record without {' and '.join(path.text for path in paths)}"
        )
        tally(self._reading.notes, self._reading.notes.not_understood, kind)
        return SetAside(kind="record", reason="no rule of the map takes it")

    def _tree(self, rule: RecordRule) -> Tree:
        if id(rule) not in self._trees:
            self._trees[id(rule)] = tree_of_paths(rule.used)
        return self._trees[id(rule)]

    def _nouns(self, rule: RecordRule, record: OneRecord) -> Iterator[Record | Answer]:
        begins = rule.conversation.begins
        if begins is not None and record.place.holds(begins):
            self._conversation = None
        for message in rule.messages:
            for place in record.places(message.each):
                yield from self._message(message, place, rule, record)
        for call in rule.calls:
            for place in record.places(call.each):
                yield from self._call(call, place, rule, record)
        for answer in rule.answers:
            for place in record.places(answer.each):
                yield self._answer(answer, place, rule, record)
        for label in rule.labels:
            for place in record.places(label.each):
                conversation_id = self._conversation_id(rule, place, record)
                yield from self._label(label, place, conversation_id, None)

    # ---- conversations ----

    def _conversation_id(self, rule: RecordRule, place: Place, record: OneRecord) -> str:
        of = rule.conversation
        if of.id is not None:
            found = place.text(of.id) or record.place.text(of.id)
            if found is not None:
                return found
            self._reading.notes.count(self._reading.notes.missing, "conversation id")
            return record.own_id(self._times)
        if of.whole == "record":
            return record.own_id(self._times)
        if self._conversation is None:
            self._conversation = record.own_id(self._times)
        return self._conversation

    def _tell(self, rule: RecordRule, place: Place, conversation_id: str) -> Iterator[Conversation]:
        """Yield the conversation, where this is its first record."""
        if conversation_id not in self._told:
            self._told.add(conversation_id)
            of, options = rule.conversation, self._reading.options
            yield Conversation(
                key_space=self._key_space,
                conversation_id=conversation_id,
                source=place.text(of.source) or options.source,
                style=place.text(of.style) or options.style,
                model=place.text(of.model),
            )

    def _place(self, *where: object) -> int:
        """Return how many were at this place before, and count one more."""
        count = self._times.get(where, 0)
        self._times[where] = count + 1
        return count

    # ---- calls ----

    def _call(self, rule: CallRule, place: Place, of: RecordRule, record: OneRecord) -> Iterator[Record]:
        tool_name = place.text(rule.tool)
        if tool_name is None:
            if rule.each:  # an element of another kind, in a list of several
                tally(
                    self._reading.notes, self._reading.notes.not_understood, "element without a tool's name"
                )
                return
            raise Refused(rule.tool.paths[0].text if rule.tool.paths else "tool", "required field is missing")
        conversation_id = self._conversation_id(of, place, record)
        yield from self._tell(of, place, conversation_id)
        options, style = self._reading.options, place.text(rule.style)
        turn, cycle, index = place.number(rule.turn), place.number(rule.cycle), place.number(rule.index)
        started, ended = place.moment(rule.started), place.moment(rule.ended)
        arguments, arguments_state = place.arguments(rule.arguments)
        result, result_state = place.result(rule.result, cells=self._cells)
        if result_state == "absent" and not self._map.waits:
            self._reading.notes.count(self._reading.notes.missing, "call without result")
        ended_by = failure(rule.errors, rule.error_text, rule.error_kind, place)
        call_id, actor = place.text(rule.call_id), place.text(rule.actor)
        if actor is not None and actor not in _ACTORS:
            tally(self._reading.notes, self._reading.notes.not_understood, f"actor {actor}")
        key = place.text(rule.id)
        if key is None:
            where = (str(started), call_id or "", str(turn), str(cycle))
            told = (conversation_id, tool_name, *where, arguments or "")
            digest = hashlib.sha256("\x1f".join(told).encode("utf-8", "surrogatepass")).hexdigest()[:20]
            key = f"{conversation_id}/{digest}/{self._place('key', conversation_id, digest)}"
        place_in_turn = self._place("turn", conversation_id, turn)
        call = _tool_call(
            key_space=self._key_space,
            key=key,
            conversation_id=conversation_id,
            tool_name=tool_name,
            turn=turn,
            cycle=cycle,
            call_index=place_in_turn if index is None else index,
            index_in_cycle=None if cycle is None else self._place("cycle", conversation_id, turn, cycle),
            call_id=call_id,
            tool_server=place.text(rule.server),
            wrapped_tool=place.text(rule.wrapped_tool),
            arguments=arguments,
            arguments_state=arguments_state,
            result=result,
            result_state=result_state,
            is_error=ended_by.is_error,
            error_origin=ended_by.origin,
            error_kind=ended_by.kind,
            error_text=ended_by.text,
            actor=actor if actor in _ACTORS else "model",  # type: ignore[arg-type]  # one of its own words
            source=place.text(rule.source) or place.text(of.conversation.source) or options.source,
            style=style or place.text(of.conversation.style) or options.style,
            model=place.text(rule.model) or place.text(of.conversation.model),
            created_at=started or ended,
            latency_ms=length_ms(place.milliseconds(rule.latency), started, ended),
            contact_id=place.text(rule.contact),
            message_id=place.text(rule.message),
        )
        yield call
        for label in rule.labels:
            yield from self._label(label, place, conversation_id, call)

    def _answer(self, rule: AnswerRule, place: Place, of: RecordRule, record: OneRecord) -> Answer:
        result, state = place.result(rule.result, cells=self._cells)
        ended_by = failure(rule.errors, rule.error_text, rule.error_kind, place)
        return Answer(
            conversation_id=self._conversation_id(of, place, record),
            call_id=place.text(rule.call_id),
            tool_name=place.text(rule.tool),
            result=result,
            result_state=state,
            is_error=ended_by.is_error,
            error_origin=ended_by.origin,
            error_kind=ended_by.kind,
            error_text=ended_by.text,
            ended_at=place.moment(rule.ended),
            latency_ms=place.milliseconds(rule.latency),
        )

    # ---- messages and labels ----

    def _message(
        self, rule: MessageRule, place: Place, of: RecordRule, record: OneRecord
    ) -> Iterator[Record]:
        role, node = place.text(rule.role), place.found(rule.text)
        if node is None and rule.text.const is None:
            return  # nothing was said
        if role is None:
            raise Refused(rule.role.paths[0].text, "required field is missing")
        conversation_id = self._conversation_id(of, place, record)
        yield from self._tell(of, place, conversation_id)
        structured = node is not None and node.raw[:1] in (b"{", b"[")
        yield Message(
            key_space=self._key_space,
            conversation_id=conversation_id,
            position=self._place("message", conversation_id),
            role=role,
            text=None if structured else place.text(rule.text) or "",
            content=node.raw.decode() if structured and node is not None else None,
            message_id=place.text(rule.id),
            name=place.text(rule.name),
            model=place.text(rule.model) or place.text(of.conversation.model),
            created_at=place.moment(rule.created_at),
            latency_ms=place.milliseconds(rule.latency),
        )

    def _label(
        self, rule: LabelRule, place: Place, conversation_id: str, call: ToolCall | None
    ) -> Iterator[Feedback]:
        raw, score, note = (
            place.text(rule.label),
            place.score(rule.score, cells=self._cells),
            place.text(rule.note),
        )
        if raw is None and score is None and note is None:
            return
        notes, options = self._reading.notes, self._reading.options
        author, name = place.text(rule.author), place.text(rule.name)
        kind = (place.text(rule.author_kind) or "HUMAN").upper()
        if kind not in _AUTHOR_KINDS:
            tally(notes, notes.not_understood, f"author kind {kind}")
        call_key = place.text(rule.call) if call is None else call.key
        turn = place.number(rule.turn)
        level = "call" if call_key is not None else "turn" if turn is not None else "conversation"
        target = "\x1f".join((level, conversation_id, call_key or "", str(turn), name or "", author or ""))
        digest = hashlib.sha256(target.encode("utf-8", "surrogatepass")).hexdigest()[:20]
        expected = place.arguments(rule.expected_arguments)[0] if rule.expected_arguments else None
        yield Feedback(
            key_space=self._key_space,
            key=place.text(rule.id) or f"{digest}/{self._place('label', digest)}",
            target_level=level,  # type: ignore[arg-type]  # one of its three words, chosen above
            target_key_space=rule.key_space or self._key_space,
            conversation_id=conversation_id,
            call_key=call_key,
            turn=turn,
            name=name,
            label=None if raw is None else label_of(raw, self._reading),
            label_raw=raw,
            score=score,
            author_kind=kind if kind in _AUTHOR_KINDS else "CODE",  # type: ignore[arg-type]  # as above
            author=author,
            note=note,
            created_at=place.moment(rule.created_at),
            expected_tool=place.text(rule.expected_tool),
            expected_arguments=expected,
            source=options.source if call is None else call.source,
            tool_name=None if call is None else call.tool_name,
        )
