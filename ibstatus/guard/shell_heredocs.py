"""Here-documents: their text is data, unless its delimiter is unquoted and an expansion stands in it."""

from ibstatus.guard import shell_parse
from ibstatus.guard.shell_words import MARK, TEXT, Unreadable, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.shell_words import Piece


class Pending:
    """A here-document whose text comes after the line."""

    __slots__ = ("delimiter", "quoted", "redirect", "strips")

    def __init__(self, word: Word, redirect: shell_parse.Redirect) -> None:
        if word.text is None or "\n" in word.raw or "$" in word.raw:
            raise Unreadable("the delimiter of a here-document is computed")
        self.delimiter = word.text
        self.quoted = word.quoted
        self.redirect = redirect
        self.strips = redirect.operator == "<<-"


def take(reader: shell_parse.Reader, pending: Pending) -> None:
    """The text from `at` up to the line of the delimiter; the redirect's target becomes that text."""
    text, start = reader.text, reader.at
    stop, after = ending(text, start, pending)
    body = text[start:stop]
    if not pending.quoted and "\\\n" in body:
        stop, after = ending_of_joined(text, start, pending)
        body = text[start:stop]
    reader.at = after
    if pending.quoted:
        pending.redirect.target = Word(text, start, stop, [(TEXT, body, True)], True, None)
    else:
        pending.redirect.target = expanded(reader, body)


def ending(text: str, start: int, pending: Pending) -> tuple[int, int]:
    """(where the text ends, where the commands go on)."""
    if pending.strips:
        return ending_by_lines(text, start, pending, joined=False)
    line = pending.delimiter + "\n"
    if text.startswith(line, start):
        return start, start + len(line)
    at = text.find("\n" + line, start)
    if at >= 0:
        return at + 1, at + 1 + len(line)
    if text.endswith("\n" + pending.delimiter) or text[start:] == pending.delimiter:
        return max(start, len(text) - len(pending.delimiter)), len(text)
    return len(text), len(text)


def ending_of_joined(text: str, start: int, pending: Pending) -> tuple[int, int]:
    """A backslash at the end of a line joins it with the next, and the two can make the delimiter."""
    return ending_by_lines(text, start, pending, joined=True)


def ending_by_lines(text: str, start: int, pending: Pending, *, joined: bool) -> tuple[int, int]:
    at = start
    while at < len(text):
        stop, parts = at, []
        while True:
            newline = text.find("\n", stop)
            newline = len(text) if newline < 0 else newline
            part = text[stop:newline]
            stop = newline + 1
            slashes = len(part) - len(part.rstrip("\\"))
            if not joined or slashes % 2 == 0 or stop > len(text):
                break
            parts.append(part[:-1])
        line = "".join([*parts, part])
        if (line.lstrip("\t") if pending.strips else line) == pending.delimiter:
            return at, min(stop, len(text))
        at = stop
    return len(text), len(text)


def expanded(reader: shell_parse.Reader, body: str) -> Word:
    """$…, $(…) and backticks in it are bash's; everything else is text."""
    if "$" not in body and "`" not in body:
        return Word(body, 0, len(body), [(TEXT, body, True)], True, None)
    inside = shell_parse.Reader(body, reader.depth + 1, in_document=True)
    inside.quote_marks = body.translate({ord(char): MARK for char in "$`\\"})
    pieces: list[Piece] = []
    while True:
        stop = inside.quote_marks.find(MARK, inside.at)
        if stop < 0:
            pieces.append((TEXT, body[inside.at :], True))
            break
        pieces.append((TEXT, body[inside.at : stop], True))
        inside.at = stop
        inside.in_quotes(pieces, body[stop], stop)
    reader.arithmetic = reader.arithmetic or inside.arithmetic
    reader.sums += inside.sums
    reader.commands += inside.commands
    return Word(body, 0, len(body), pieces, True, inside.codes)
