"""What a lab exchanges with the upstream Quality API: it pulls what is there, and pushes what was said here."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from quality_lab.errors import OutputError, ServiceError, StoreBusy, UsageError
from quality_lab.lab.authors import author_of
from quality_lab.lab.reviewing import Reviewing, of_tenant

if TYPE_CHECKING:
    from quality_lab.lab.pulling import Pulled
    from quality_lab.lab.pushed import Pushed
    from quality_lab.lab.pushing_labels import Candidate
    from quality_lab.proposals import DecisionLine
    from quality_lab.quality_api import Patience, Session
    from quality_lab.quality_api.reading import Kind
    from quality_lab.quality_api.writing import GivenLabel, TrackedUpstream

EVERY_KIND: tuple[Kind, ...] = ("feedback", "cases", "calls", "proposals")
_LOOKS_AGAIN_S = 0.1


class Exchanging(Reviewing):
    """The part of a lab that talks to the upstream Quality API."""

    def pull(
        self,
        api_base: str,
        *,
        token: str,
        what: Sequence[Kind] = EVERY_KIND,
        tenant: str = "default",
        most_requests: int | None = None,
        patience: Patience | None = None,
        progress: Callable[[str, int], None] | None = None,
    ) -> Pulled:
        """Return what came from the API, the files below data/exports that hold it, and what loading them did.

        A page that is full is asked for again in parts, by the filters that the endpoint has; where rows may
        be missing all the same, the answer says so (`possibly_truncated`). A kind comes whole or not at all.
        What an earlier pull brought is written to no second file. *most_requests* bounds each kind (1,000).

        >>> import quality_lab as ql
        >>> ql.open("my-project").pull("lab.example.com", token="secret")
        Traceback (most recent call last):
        quality_lab.errors.UsageError: wanted an http or https URL as the base of the API, got no URL

        Raises: UsageError, PullStopped (a ServiceError, whose *pulled* tells what came before), OutputError,
        StoreBusy, StoreError.
        """
        from quality_lab.lab.pulling import Pulled, PulledKind, PullStopped, keep_rows, pulled_files
        from quality_lab.quality_api import Session
        from quality_lab.quality_api.address import shown_base
        from quality_lab.quality_api.reading import everything
        from quality_lab.quality_api.slices import MOST_REQUESTS
        from quality_lab.store.sources import stored_path

        wanted = [kind for kind in EVERY_KIND if kind in what]
        if unknown := [kind for kind in what if kind not in EVERY_KIND]:
            raise UsageError(f"wanted some of {', '.join(EVERY_KIND)}; came {', '.join(map(repr, unknown))}")
        kinds: list[PulledKind] = []
        learned: dict[str, set[str]] = {}
        stopped: tuple[ServiceError, Kind] | None = None
        with Session(api_base, token=token, patience=patience) as session:
            for kind in wanted:
                try:
                    came = everything(
                        session,
                        kind,
                        learned=learned,
                        most_requests=most_requests or MOST_REQUESTS,
                        progress=progress,
                    )
                except ServiceError as error:
                    if not kinds:
                        raise
                    stopped = error, kind
                    break
                for row in came.rows:
                    for name, value in row.names.items():
                        learned.setdefault(name, set()).add(value)
                kept = keep_rows(came.rows, kind, home=self.home, tenant=tenant, now=datetime.now(UTC))
                kinds.append(PulledKind.of(kind, came, kept))
        known = {row.path for row in self.store.sources() if row.tenant == tenant}
        files = [path for kind in EVERY_KIND for path in pulled_files(self.home, tenant=tenant, what=kind)]
        load = self.store.load(
            [path for path in files if stored_path(path, home=self.home) not in known], tenant=tenant
        )
        pulled = Pulled(api=shown_base(api_base), tenant=tenant, kinds=kinds, load=load)
        pulled.correct_the_load()
        if stopped is not None:
            raise PullStopped(*stopped, pulled) from stopped[0]
        return pulled

    def push(
        self,
        api_base: str,
        *,
        token: str,
        tenant: str = "default",
        dry_run: bool = False,
        reviewer: str | None = None,
        patience: Patience | None = None,
    ) -> Pushed:
        """Return what was sent to the API of the journal's labels and decisions, and why the rest was not.

        A label is sent where a person gave it to a call of upstream's and of *tenant*, and its reviewer did
        not replace it. What stands upstream is read first; what is there already is not sent again. Each
        label is noted in the journal with upstream's id as soon as it is sent: from then on it cannot be
        taken back. Notes are masked. With *dry_run* nothing is sent and nothing noted.

        >>> import quality_lab as ql
        >>> ql.open("my-project").push("ftp://lab.example.com", token="secret")
        Traceback (most recent call last):
        quality_lab.errors.UsageError: wanted an http or https URL as the base of the API, got one of the scheme ftp

        Raises: UsageError, PushStopped (a ServiceError, whose *pushed* tells what was sent), OutputError,
        StoreBusy, StoreError.
        """
        from quality_lab.lab.pushed import Pushed, PushStopped
        from quality_lab.quality_api import Session
        from quality_lab.quality_api.address import shown_base

        pushed = Pushed(api=shown_base(api_base), tenant=tenant, dry_run=dry_run)
        with Session(api_base, token=token, patience=patience) as session, self._alone():
            self.store.load()
            try:
                self._push_into(pushed, session, author=author_of(self.home, reviewer).id)
            except ServiceError as error:
                self._take_notes(pushed)
                raise PushStopped(error, pushed) from error
            self._take_notes(pushed)
        return pushed

    def _take_notes(self, pushed: Pushed) -> None:
        """Let the lab know what was noted, so that it counts what comes back once."""
        if not pushed.noted:
            return
        try:
            self.store.load()
        except StoreBusy as busy:
            pushed.notice = f"what was sent is noted in the journal; the next load brings that: {busy}"

    def _push_into(self, pushed: Pushed, session: Session, *, author: str) -> None:
        """Send what is to be sent, and tell *pushed* of each line as it goes."""
        from quality_lab.lab.pushed import Notes
        from quality_lab.lab.pushing_decisions import push_decisions
        from quality_lab.lab.pushing_labels import candidates, push_labels, uids_of
        from quality_lab.masking import Masker
        from quality_lab.metrics.call_keys import call_keys
        from quality_lab.proposals import decision_lines
        from quality_lab.proposals.followed import decision_story

        lines = [line for line in self.journal.lines("labels") if "id" in line]
        gone, noted = self.journal.retracted(), list(self.journal.lines("pushes"))
        notes = Notes.of(noted, {str(line["id"]): line.get("author") for line in lines}, api=pushed.api)
        masker = Masker(self.home)
        head = {"record_type": "push", "api": pushed.api, **of_tenant(pushed.tenant)}

        def note_label(one: Candidate, made: GivenLabel, theirs: bool) -> None:
            about = {"pushes": one.line, "call": {"tool_call_id": one.call_id}, "feedback_id": made.id}
            whose = {"theirs": True} if theirs else {}
            self.journal.append("pushes", head | about | whose, author=author)

        def note_decision(line: DecisionLine, there: TrackedUpstream, body: dict[str, Any]) -> None:
            about = {
                "pushes": line.key,
                "fingerprint": line.fingerprint,
                "proposal_id": there.id,
                "sent": body,
            }
            self.journal.append("pushes", head | about, author=author)

        going = candidates(
            lines,
            gone=gone,
            keys=call_keys(self.store, uids_of(lines)),
            notes=notes,
            tenant=pushed.tenant,
            masker=masker,
        )
        dry_run = pushed.dry_run
        stopped: ServiceError | None = None
        try:
            for label in push_labels(session, going, notes=notes, note=note_label, dry_run=dry_run):
                pushed.labels.append(label)
        except ServiceError as error:
            stopped = error
        for decision in push_decisions(
            session,
            decision_story(self.store),
            ours={line.key for line in decision_lines(self.store)},
            tenant=pushed.tenant,
            gone=gone,
            noted=[one for one in noted if one.get("api") == pushed.api],
            notes=notes,
            masker=masker,
            note=note_decision,
            dry_run=dry_run,
            stopped=stopped,
        ):
            pushed.decisions.append(decision)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let no other push of this home run meanwhile; wait for it as long as for the database.

        Raises: StoreBusy where it takes longer, OutputError.
        """
        folder = self.journal.folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise OutputError(f"{folder} cannot be opened: {error.strerror or error}") from error
        try:
            ends_at = time.monotonic() + self.store.wait_s
            while not _locked(descriptor):
                if time.monotonic() >= ends_at:
                    raise StoreBusy(
                        f"another push of {self.home} is under way, for {self.store.wait_s:g} s now"
                    )
                time.sleep(_LOOKS_AGAIN_S)
            yield
        finally:
            os.close(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
