"""The record of a case that a proposal's example makes: as upstream makes it, or frozen from its call."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from quality_lab.errors import UnknownName

if TYPE_CHECKING:
    from quality_lab.store import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredProposal:
    """A row of the question for a tracked proposal."""

    tenant: str
    key: str
    record: str
    fingerprint: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ExampleRecord:
    """A record without an id, and the proposal that it answers."""

    record: dict[str, Any]
    tenant: str
    fingerprint: str
    proposal_id: str | None  # upstream's


_TRACKED = """
    select tenant, key, record, fingerprint from proposals
    where status is not null and (key = $wanted or fingerprint = $wanted)
    order by updated_at desc nulls last, key limit 1"""
_UPSTREAM_CALL = "quality_lab"


def tracked_proposal(store: Store, wanted: str) -> StoredProposal | None:
    """Return the proposal that upstream tracks under this id or fingerprint; None where it tracks none."""
    found = store.ask(StoredProposal, _TRACKED, wanted=wanted) if store.exists() else []
    return found[0] if found else None


def record_of_example(
    store: Store, wanted: str, *, example: int, expect: str | None, by: str, now: datetime
) -> ExampleRecord:
    """Return the record that an *example* of the proposal *wanted* (its id, or its fingerprint) makes.

    Raises: UnknownName for an unknown proposal or example, CaseRefused where upstream would refuse, UsageError.
    """
    tracked = tracked_proposal(store, wanted)
    if tracked is not None:
        return _of_tracked(store, tracked, example=example, expect=expect, by=by, now=now)
    from quality_lab.cases.freezing import Asked, freeze_case, gather
    from quality_lab.proposals import proposals

    found = proposals(store, top=None) if store.exists() else []
    named = [one for one in found if wanted in (one.id, one.fingerprint)]
    if not named:
        raise UnknownName(f"wanted the id of a proposal, came {wanted!r}; `proposals` lists them")
    one = named[0]
    if not 0 <= example < len(one.examples):
        raise UnknownName(
            f"proposal {one.id} has {len(one.examples)} examples, counted from 0; came {example}"
        )
    material = gather(store, one.examples[example].call_uid)
    record = freeze_case(material, Asked(label=one.label, expect=expect), by=by, now=now)
    told = {"id": None, "fingerprint": one.fingerprint, "title": one.title, "summary": one.summary}
    record["context"] |= {"proposal": {**told, "rationale": list(one.rationale)}, "exampleIndex": example}
    return ExampleRecord(record=record, tenant=one.tenant, fingerprint=one.fingerprint, proposal_id=None)


def _of_tracked(
    store: Store, proposal: StoredProposal, *, example: int, expect: str | None, by: str, now: datetime
) -> ExampleRecord:
    """Return upstream's record, with rules, and with what was said and done where the call is in the lab."""
    from quality_lab.cases.freezing import Asked, freeze_case, gather
    from quality_lab.cases.from_proposal import case_from_proposal
    from quality_lab.drafts import draft_rules
    from quality_lab.json_text import parse
    from quality_lab.store.rows import uid

    body = {"exampleIndex": example} | ({} if expect is None else {"expectedBehavior": expect})
    record = case_from_proposal(parse(proposal.record), body, case_id=0, now=int(now.timestamp()))
    made_from = {"by": by, "label": record["label"], "frozen_at": now.isoformat(timespec="seconds")}
    record["provenance"] = {**made_from, "frozen_at": made_from["frozen_at"].replace("+00:00", "Z")}
    call_uid = uid(proposal.tenant, _UPSTREAM_CALL, str(record["toolCallId"]))
    dashed = f"{call_uid[:8]}-{call_uid[8:12]}-{call_uid[12:16]}-{call_uid[16:20]}-{call_uid[20:]}"
    try:
        frozen = freeze_case(gather(store, dashed), Asked(label=record["label"]), by=by, now=now)
    except UnknownName:
        rules = draft_rules(record["label"], record["toolName"], args=record["input"]["args"])
        record["expected"] |= rules
    else:
        written = record["expected"].keys()
        more = {name: rule for name, rule in frozen["expected"].items() if name not in written}
        record["expected"] |= more
        record["input"] |= {
            name: frozen["input"][name] for name in ("messages", "tools") if name in frozen["input"]
        }
        record |= {name: frozen[name] for name in ("recorded", "corrected", "provenance") if name in frozen}
    return ExampleRecord(
        record=record, tenant=proposal.tenant, fingerprint=proposal.fingerprint, proposal_id=proposal.key
    )
