"""One question, one `.sql` file, one function, one row class, one name.

Every function takes a store, or whatever else answers SQL with rows, and the common filters.
"""

from quality_lab.metrics.agreement import Agreement, agreement
from quality_lab.metrics.calls import CallRow, Review, calls
from quality_lab.metrics.compat_summary import compat_summary
from quality_lab.metrics.confusion import Confusion, confusion
from quality_lab.metrics.conversation import ConversationStep, conversation
from quality_lab.metrics.coverage import Coverage, coverage
from quality_lab.metrics.definitions import Definition, definitions
from quality_lab.metrics.disputes import Dispute, disputes
from quality_lab.metrics.failing_tools import FailingTool, failing_tools
from quality_lab.metrics.filters import Filters, Window
from quality_lab.metrics.guards import Guard, guards
from quality_lab.metrics.label_counts import LabelCount, label_counts
from quality_lab.metrics.latency import Latency, latency
from quality_lab.metrics.sequences import CallSequence, sequences
from quality_lab.metrics.trend import Period, trend
from quality_lab.metrics.undated import Undated, undated

__all__ = [
    "Agreement",
    "CallRow",
    "CallSequence",
    "Confusion",
    "ConversationStep",
    "Coverage",
    "Definition",
    "Dispute",
    "FailingTool",
    "Filters",
    "Guard",
    "LabelCount",
    "Latency",
    "Period",
    "Review",
    "Undated",
    "Window",
    "agreement",
    "calls",
    "compat_summary",
    "confusion",
    "conversation",
    "coverage",
    "definitions",
    "disputes",
    "failing_tools",
    "guards",
    "label_counts",
    "latency",
    "sequences",
    "trend",
    "undated",
]
