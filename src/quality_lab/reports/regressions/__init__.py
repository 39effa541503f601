"""The report on regression cases: what gates, what came of it, and what changed against the run before."""
