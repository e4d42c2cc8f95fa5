"""Programs outside, as functions that return values."""
