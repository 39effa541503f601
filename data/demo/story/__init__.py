"""The demo story: frame, calls, plot, reviews, records and cases; chat, concierge and journal; truth."""
