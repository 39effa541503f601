"""What a report's kernel imports while the runner still gets ready; to import this is all there is to it."""

import plotly.graph_objects  # noqa: F401  imported so that the notebook finds it loaded

import quality_lab.metrics
import quality_lab.store  # noqa: F401  the same
