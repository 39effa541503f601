"""The quality report: one page to put before a meeting, part by part, each a method that a cell calls."""

from quality_lab.reports.quality.page import QualityPage, quality_page

__all__ = ["QualityPage", "quality_page"]
