"""What a report's kernel imports while the runner still gets ready; to import this is all there is to it."""

import quality_lab.metrics
import quality_lab.reports.quality
import quality_lab.store  # noqa: F401  imported so that the notebook finds them loaded
from quality_lab.reports.light_imports import load_plotly

load_plotly()
