"""The vocabulary: words (hot) and records (cold)."""
