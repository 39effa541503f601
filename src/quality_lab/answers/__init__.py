"""What a question gives back: rows that show themselves, and turn into pandas, polars, Arrow and records."""

from quality_lab.answers.answer import Answer
from quality_lab.answers.visible import visible

__all__ = ["Answer", "visible"]
