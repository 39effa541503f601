"""The report on one tool in depth."""
