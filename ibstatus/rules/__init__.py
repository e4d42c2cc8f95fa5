"""Pure decisions, a file a subject: no I/O, no clock."""
