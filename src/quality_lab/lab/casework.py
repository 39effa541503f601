"""What a lab does with its regression cases: look, edit, put away, take away. Re-runs are elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quality_lab.answers import Answer
from quality_lab.errors import InputError, UnknownName, UsageError
from quality_lab.lab.authors import author_of
from quality_lab.lab.case_rows import (
    Action,
    CaseEvent,
    CaseRow,
    Frozen,
    Status,
    checked_text,
    is_masked,
    later,
)
from quality_lab.lab.freezing import Freezing
from quality_lab.records import DEFAULT_TENANT

if TYPE_CHECKING:
    from quality_lab.lab.export import Exported


class Casework(Freezing):
    """The part of a lab that keeps cases. Each change is a line of the journal and counts at once."""

    def cases(self, *, status: Status = "active") -> Answer[CaseRow]:
        """Return the lab's cases, the one changed last first, each judged by its rules now.

        >>> import quality_lab as ql
        >>> sorted({row.label for row in ql.open_demo().cases(status="archived")})
        ['bad_args', 'wrong_tool']
        """
        from quality_lab.metrics.regression_cases import regression_cases

        if not self.store.exists():
            return Answer([], CaseRow, title="Regression cases")
        stored = regression_cases(self.store, statuses=() if status == "all" else (status,))
        rows = []
        for one in stored:
            found = checked_text(one.record)
            rows.append(
                CaseRow(
                    id=int(one.key),
                    tenant=one.tenant,
                    tool_name=one.tool_name,
                    label=one.label,
                    proof=found.proof,
                    status=one.status,
                    title=one.title,
                    recorded=found.recorded,
                    corrected=found.corrected,
                    reason="; ".join(found.reasons) or None,
                    call_uid=one.call_uid,
                    proposal_id=one.proposal_id,
                    created_at=one.created_at,
                    updated_at=one.updated_at,
                )
            )
        return Answer(rows, CaseRow, title="Regression cases")

    def case(self, case_id: int | str, *, tenant: str | None = None) -> dict[str, Any]:
        """Return the record of a case, numbers as they were written; *tenant* where several have such an id.

        >>> import quality_lab as ql
        >>> lab = ql.open_demo()
        >>> lab.case(lab.cases()[0].id)["recordType"]
        'tool_call_regression_case'

        Raises: UnknownName where there is no such case, UsageError where several tenants have one.
        """
        return self._case(case_id, tenant)[1]

    def _case(self, case_id: int | str, tenant: str | None) -> tuple[str, dict[str, Any]]:
        """Return the tenant of a case and its record."""
        from quality_lab.json_text import parse
        from quality_lab.metrics.regression_cases import regression_cases

        key = str(case_id).removeprefix("REG-")
        stored = regression_cases(self.store, keys=(key,)) if self.store.exists() else []
        by_tenant = {one.tenant: one for one in stored}
        owner = _one_of(by_tenant, tenant, case_id)
        if owner is None:
            raise UnknownName(f"wanted a case of this lab, came {case_id}; `cases` lists them")
        record: dict[str, Any] = parse(by_tenant[owner].record)
        return owner, record

    def edit_case(
        self,
        case_id: int | str,
        record: Mapping[str, Any],
        *,
        tenant: str | None = None,
        reviewer: str | None = None,
        masked: bool = True,
    ) -> Frozen:
        """Return the case as it is after *record* took its place; what it was stays in the journal.

        Id and time of making stay. The proof is found anew.

        Raises: UnknownName for an unknown case, UsageError where several tenants have one, InputError where
        upstream would refuse the record, OutputError.
        """
        owner, before = self._case(case_id, tenant)
        if record.get("id", before["id"]) != before["id"]:
            raise InputError(f"wanted the record of case {before['id']}, came that of {record['id']}")
        changed = {**record, "id": before["id"], "createdAt": before.get("createdAt")}
        return self._keep(
            "edit",
            later(changed, before),
            tenant=owner,
            author=author_of(self.home, reviewer).id,
            masked=masked,
        )

    def archive_case(
        self, case_id: int | str, *, tenant: str | None = None, reviewer: str | None = None
    ) -> Frozen:
        """Return the case, archived: it is kept, and gates no more.

        Raises: UnknownName for an unknown case, UsageError where it is archived already, OutputError.
        """
        return self._move("archive", case_id, "archived", tenant, reviewer)

    def restore_case(
        self, case_id: int | str, *, tenant: str | None = None, reviewer: str | None = None
    ) -> Frozen:
        """Return the case, active again.

        Raises: UnknownName for an unknown case, UsageError where it is active, OutputError.
        """
        return self._move("restore", case_id, "active", tenant, reviewer)

    def case_history(self, case_id: int | str, *, tenant: str | None = None) -> Answer[CaseEvent]:
        """Return what the journal says of a case, oldest first; nothing where it only came in an export.

        Raises: UnknownName where neither the lab nor the journal knows the case.
        """
        key = str(case_id).removeprefix("REG-")
        gone = self.journal.retracted()
        said: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {}
        for line in self.journal.lines("cases"):
            record = line.get("record")
            if isinstance(record, dict) and str(record.get("id")) == key:
                said.setdefault(str(line.get("tenant") or DEFAULT_TENANT), []).append((line, record))
        owner = _one_of(said, tenant, case_id)
        events = []
        for line, record in said[owner] if owner is not None else ():
            provenance = record.get("provenance")
            events.append(
                CaseEvent(
                    at=line.get("created_at"),
                    author=line.get("author"),
                    action=str(line.get("action", "edit")),
                    status=record.get("status"),
                    title=record.get("title"),
                    proof=provenance.get("proof") if isinstance(provenance, dict) else None,
                    line_id=str(line.get("id")),
                    taken_back=line.get("id") in gone,
                )
            )
        if not events:
            self.case(case_id, tenant=tenant)
        return Answer(events, CaseEvent, title=f"Case {key}")

    def export_cases(
        self,
        path: Path | str,
        *,
        status: Status = "active",
        compat: bool = False,
        tenant: str | None = None,
    ) -> Exported:
        """Return what was written to *path*: the cases, a record a line, the one changed last first.

        With *compat* the records hold upstream's keys alone.

        >>> from pathlib import Path
        >>> from tempfile import mkdtemp
        >>> import quality_lab as ql
        >>> ql.open_demo().export_cases(Path(mkdtemp()) / "cases.jsonl", status="archived", compat=True).rows
        3

        Raises: UsageError where several tenants have cases and none is named, OutputError.
        """
        from quality_lab.cases.upstream_record import as_upstream
        from quality_lab.json_text import compact, parse
        from quality_lab.lab.export import Exported, owner_of_lines, write_lines
        from quality_lab.metrics.regression_cases import regression_cases

        statuses = () if status == "all" else (status,)
        stored = regression_cases(self.store, statuses=statuses) if self.store.exists() else []
        owner = owner_of_lines(sorted({one.tenant for one in stored}), tenant)
        records = (parse(one.record) for one in stored if one.tenant == owner)
        lines = (compact(as_upstream(record) if compat else record) for record in records)
        rows = write_lines(lines, path)
        return Exported(path=None if str(path) == "-" else Path(path), rows=rows, left_out=0)

    def _move(
        self, action: Action, case_id: int | str, status: str, tenant: str | None, reviewer: str | None
    ) -> Frozen:
        owner, before = self._case(case_id, tenant)
        if before["status"] == status:
            raise UsageError(f"case {before['id']} is {status} already")
        return self._keep(
            action,
            later({**before, "status": status}, before),
            tenant=owner,
            author=author_of(self.home, reviewer).id,
            masked=is_masked(before),
        )


def _one_of(tenants: Iterable[str], named: str | None, case_id: int | str) -> str | None:
    """Return the tenant that is meant where *tenants* have a case with this id; None where none is."""
    found = sorted(tenants)
    if named is not None:
        return named if named in found else None
    if len(found) > 1:
        raise UsageError(f"several tenants have a case {case_id}: {', '.join(found)}; name one with --tenant")
    return next(iter(found), None)
