"""What must not be shown, shown as stand-ins: secrets, payment data, addresses. `Masker(home)` does it."""

from quality_lab.masking.masker import SECRET_NAMES, Masker

__all__ = ["SECRET_NAMES", "Masker"]
