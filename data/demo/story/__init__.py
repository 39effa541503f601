"""The demo story: frame, calls, plot, reviews, records and cases; chat and journal; truth."""
