"""What kind of message a text is: `?` asks, `!` warns, `COMPLETE:` and `DONE:` report, the rest is status."""

WORDS = (("QUESTION:", "question"), ("ALERT:", "alert"), ("COMPLETE:", "complete"), ("DONE:", "complete"))


def split(text: str) -> tuple[str, str]:
    """(type, content). One prefix is taken, case as written. `?` counts before anything, `!` only before a blank or
    alone: `?Should I` is a question, `!important` stays text."""
    start = text.lstrip()
    if start.startswith("?"):
        return "question", rest_of(start[1:])
    if start.startswith("!") and (len(start) == 1 or start[1].isspace()):
        return "alert", rest_of(start[1:])
    for word, kind in WORDS:
        if start.startswith(word):
            return kind, rest_of(start[len(word) :])
    return "status", text


def rest_of(text: str) -> str:
    """The text after a prefix: blanks on the prefix's own line go, further lines keep their indentation."""
    first, newline, more = text.partition("\n")
    first = first.strip(" \t\r")
    return f"{first}\n{more}" if newline and first else first + more
