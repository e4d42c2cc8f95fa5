"""The one seam to Claude Code: its command line, its files, its screens. Another kind of client stands beside it."""
