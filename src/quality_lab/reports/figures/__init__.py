"""Figures for what people would rather look at than read; each title says what the figure shows.

Every function takes rows of an answer and returns a plotly figure, or None where the figure would show
nothing: the page then says so in a sentence.
"""

from quality_lab.reports.figures.counts import coverage, labels
from quality_lab.reports.figures.failing import failing_tools
from quality_lab.reports.figures.weekly import over_time

__all__ = ["coverage", "failing_tools", "labels", "over_time"]
