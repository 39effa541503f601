"""The coach's meeting: what is prepared before it, and the minutes that are written after it."""
