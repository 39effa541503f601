"""The colours of figures: one accent and one warning, told apart by any eye, on light and on dark.

A figure is made in the light colours; an exported page swaps each for its dark partner where the reader's
system is dark, so these exact texts are what it looks for.
"""

from __future__ import annotations

ACCENT = "#0067a8"
ACCENT_SOFT = "#a9cbe3"
WARN = "#b34a00"
WARN_SOFT = "#eec3a2"
INK = "#1c2126"
QUIET = "#57606a"
LINE = "#d5dae0"
PAGE = "#ffffff"
SERIES = ("#0067a8", "#b34a00", "#6f5aa8", "#2c8a6b", "#8a6d00", "#57606a", "#b0497f")  # seven at most

DARK_FOR_LIGHT = {
    ACCENT: "#6cb6f0",
    ACCENT_SOFT: "#2f5873",
    WARN: "#f2a060",
    WARN_SOFT: "#6e4526",
    INK: "#e6e9ed",
    QUIET: "#a3acb6",
    LINE: "#363d45",
    PAGE: "#15181c",
    "#6f5aa8": "#b8a6ee",
    "#2c8a6b": "#66c7a4",
    "#8a6d00": "#d3b64c",
    "#b0497f": "#e796c0",
}
