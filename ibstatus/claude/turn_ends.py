"""How an agent ends its turn: by one of two phrases, alone on the last line of what it says."""

COMPLETE = "I HAVE COMPLETED THE GOAL"
WAITING = "WAITING"
LONGEST = 300
STATES = {COMPLETE: "complete", WAITING: "waiting"}

BLANK = " \t\r\x0b\x0c\x1c\x1d\x1e\x85\xa0\u2028\u2029\u200b\u200c\u200d\u2060\ufeff"
# Markdown in front (quotes, lists, headings, emphasis, code) and behind, and the end of a sentence. A question mark
# is not the end of one of these.
BEFORE = BLANK + "*_`>#-+\"'([\u201c\u2018"
AFTER = BLANK + "*_`#-\"')]\u201d\u2019.!,;:\u2026\\"


def end_of(message: str) -> str:
    """`complete`, `waiting`, or '' when the last line that says anything is neither phrase, word for word."""
    end = len(message)
    while end > 0:
        start = message.rfind("\n", 0, end) + 1
        line = message[start:end].strip(BLANK)
        if line.lstrip(BEFORE):  # a fence or a rule says nothing
            return STATES.get(line.lstrip(BEFORE).rstrip(AFTER), "")
        end = start - 1
    return ""


def last_words(message: str) -> str:
    """The end of a message in one line that steers no terminal."""
    text = "".join([char if char.isprintable() else " " for char in message[-4 * LONGEST :]])
    words = " ".join(text.split())
    return words if len(words) <= LONGEST else "…" + words[1 - LONGEST :]
