"""What Claude Code runs at its events: JSON in, a rule's decision, JSON out."""
