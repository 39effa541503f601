"""What a question gives back: rows that show themselves, and turn into pandas, polars, Arrow and records."""

from quality_lab.answers.answer import Answer
from quality_lab.answers.exchange import CallView, ConversationView, Step
from quality_lab.answers.visible import visible

__all__ = ["Answer", "CallView", "ConversationView", "Step", "visible"]
