"""How a lab freezes calls into cases, and writes a case to the journal with its proof."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from quality_lab.errors import InputError, UnknownName, UsageError
from quality_lab.lab.authors import author_of
from quality_lab.lab.case_rows import Action, Frozen, checked
from quality_lab.lab.deciding import Deciding
from quality_lab.lab.reviewing import expected_object, of_tenant


class Freezing(Deciding):
    """The part of a lab that makes cases."""

    def freeze(
        self,
        call_uid: str,
        *,
        label: str | None = None,
        expected_tool: str | None = None,
        expected_arguments: str | Mapping[str, Any] | None = None,
        expect: str | None = None,
        reviewer: str | None = None,
        masked: bool = True,
        again: bool = False,
    ) -> Frozen:
        """Return the case that a labelled call was frozen into, proven by its own recording.

        The rules are drafted from the reviewers' label and what they expected, unless *label*,
        *expected_tool* and *expected_arguments* say otherwise; *expect* says in prose what is right. Secrets
        and payment data get stand-ins unless *masked* is False: the journal goes into git.

        >>> import quality_lab as ql
        >>> lab = ql.open_demo()
        >>> one = lab.calls(tool="get_transfer_options", label="bad_args")[0]
        >>> case = lab.freeze(one.call_uid, reviewer="dana@example.com")
        >>> case.proof, case.id in [row.id for row in lab.cases()]
        ('red', True)
        >>> _ = lab.undo(case.line["id"], reviewer="dana@example.com")

        Raises: UnknownName for an unknown call, UsageError where it has no label to draft from or the case is here
        already (*again* freezes it all the same), OutputError.
        """
        from quality_lab.cases.freezing import Asked, freeze_case, gather
        from quality_lab.metrics.call_place import call_place

        place = call_place(self.store, call_uid) if self.store.exists() else None
        if place is None:
            raise UnknownName(f"wanted the uid of a call in this lab, came {call_uid!r}; `calls` lists them")
        asked = Asked(
            label=label,
            expected_tool=expected_tool,
            expected_arguments=expected_object(expected_arguments),
            expect=expect,
        )
        author = author_of(self.home, reviewer).id
        material = gather(self.store, place.call_uid, also_called=expected_tool)
        record = freeze_case(material, asked, by=author, now=datetime.now(UTC))
        shown = self._new(record, tenant=place.tenant, masked=masked, again=again)
        return self._keep("freeze", shown, tenant=place.tenant, author=author, masked=masked)

    def case_from_proposal(
        self,
        proposal_id: str,
        *,
        example: int = 0,
        expect: str | None = None,
        reviewer: str | None = None,
        masked: bool = True,
        again: bool = False,
    ) -> Frozen:
        """Return the case made from an *example* (0 is the newest) of a proposal, which `REG-<id>` then names.

        A proposal that upstream tracks makes upstream's record; of one that is computed here the example's
        call is frozen. That the proposal is answered by the case is a decision in the journal; case and
        decision are written one right after the other, before the database is asked for anything more.

        >>> import quality_lab as ql
        >>> lab = ql.open_demo()
        >>> case = lab.case_from_proposal(lab.proposals()[0].id, reviewer="dana@example.com")
        >>> case.proof
        'red'
        >>> _ = lab.undo(case.line["id"], reviewer="dana@example.com")

        Raises: UnknownName for an unknown proposal or example, UsageError as `freeze`, OutputError.
        """
        from quality_lab.lab.proposal_cases import record_of_example

        author = author_of(self.home, reviewer).id
        with self.store.together():
            made = record_of_example(
                self.store, proposal_id, example=example, expect=expect, by=author, now=datetime.now(UTC)
            )
            record = self._new(made.record, tenant=made.tenant, masked=masked, again=again)
            given = {"proposal_id": made.proposal_id, "kind": "regression_case", "ref": f"REG-{record['id']}"}
            decision = self._decision(
                made.tenant, made.fingerprint, "apply", given | {"note": record["title"]}
            )
        return self._keep(
            "freeze", record, tenant=made.tenant, author=author, masked=masked, decision=decision
        )

    def _new(self, record: dict[str, Any], *, tenant: str, masked: bool, again: bool) -> dict[str, Any]:
        """Return *record* as a new case, with an id. Raises: UsageError where such a case is here already."""
        from quality_lab.cases.identity import id_of, twin_of
        from quality_lab.json_text import parse
        from quality_lab.masking import Masker
        from quality_lab.metrics.regression_cases import regression_cases

        stored = regression_cases(self.store)
        known = [parse(one.record) for one in stored if one.tenant == tenant]
        twin = twin_of(record, known, masked=Masker(self.home).json_text)
        if twin is not None and not again:
            raise UsageError(
                f"case {twin['id']} ({twin['status']}) has the same tool, arguments and label: it is here already"
            )
        shown = self._masked(record) if masked else record
        taken = {int(one.key) for one in stored if one.key.isdigit()}  # of any tenant: easier to tell apart
        return {**shown, "id": id_of(shown, taken=taken)}

    def _keep(
        self,
        action: Action,
        record: Mapping[str, Any],
        *,
        tenant: str,
        author: str,
        masked: bool,
        decision: Mapping[str, Any] | None = None,
    ) -> Frozen:
        """Write *record* to the journal with its proof, and what it decides; bring both into the lab."""
        shown = self._masked(record) if masked else dict(record)
        provenance = shown.get("provenance")
        provenance = dict(provenance) if isinstance(provenance, Mapping) else {}
        found = checked(shown)
        if found.shape:
            raise InputError(f"this is no case: {'; '.join(found.shape)}")
        provenance |= {"proof": found.proof, "masked": masked}
        provenance.pop("proof_reason", None)
        if found.proof != "red":
            provenance["proof_reason"] = "; ".join(found.reasons) or "the recorded calls pass its rules"
        shown["provenance"] = provenance
        entry = {"record_type": "case", "action": action, **of_tenant(tenant), "record": shown}
        line = self.journal.append("cases", entry, author=author)
        decided = None if decision is None else self.journal.append("decisions", decision, author=author)
        said = self._bring_in(line)
        return Frozen(
            line=said.line,
            in_lab=said.in_lab,
            notice=said.notice,
            record=shown,
            proof=found.proof,
            reasons=found.reasons,
            corrected=found.corrected,
            decision=None if decided is None else str(decided["id"]),
        )

    def _masked(self, record: Mapping[str, Any]) -> dict[str, Any]:
        from quality_lab.cases.masked import masked_record
        from quality_lab.masking import Masker

        content = Masker(self.home)
        schemas = Masker(self.home, secret_names=())  # a property called "password" is no secret
        return masked_record(record, content=content.json_text, schemas=schemas.json_text)
