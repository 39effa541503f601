"""Looking after a lab: forgetting what has to go, and saying what is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from quality_lab.answers import Answer

if TYPE_CHECKING:
    from quality_lab.lab.doctor import Check
    from quality_lab.lab.front_door import Lab
    from quality_lab.store import Store
    from quality_lab.store.forgetting_names import ForgetReport


class Upkeep:
    """What may be done to look after a lab."""

    store: Store

    def forget(
        self, *, conversation: str | None = None, contact: str | None = None, tenant: str | None = None
    ) -> ForgetReport:
        """Return what went out of cache and journal for good, and which files still hold it.

        Later loads leave it out too, and count its lines as forgotten.

        >>> import quality_lab as ql
        >>> ql.open("my-project").forget()
        Traceback (most recent call last):
        quality_lab.errors.UsageError: wanted a conversation, a contact or a tenant to forget

        Raises: UsageError, UnknownName where nothing of it is here, StoreBusy, StoreError, OutputError.
        """
        from quality_lab.store.forgetting_names import forget

        return forget(self.store, conversation=conversation, contact=contact, tenant=tenant)

    def doctor(self, *, kernel: bool = True) -> Answer[Check]:
        """Return what is installed and what is missing, with how to get it; *kernel* starts one, for seconds.

        >>> import quality_lab as ql
        >>> {check.subject: check.state for check in ql.open_demo().doctor(kernel=False)}["duckdb"]
        'ok'
        """
        from quality_lab.lab.doctor import examine

        return examine(cast("Lab", self), kernel=kernel)
