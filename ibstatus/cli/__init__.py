"""The command line: parse, call one op, print."""
