"""name=value, name[3]+=value and name=(…) in front of a command."""

from ibstatus.guard.shell_parse import Reader, Simple
from ibstatus.guard.shell_words import ENDS, NAME, TEXT, Unreadable, Word

SUBSCRIPT = NAME | frozenset("@*-+ $#.")


def read(reader: Reader, command: Simple) -> bool:
    """False, with nothing read, when it is an ordinary word."""
    text, at = reader.text, reader.at
    stop = at + 1
    while stop < reader.end and text[stop] in NAME:
        stop += 1
    name = text[at:stop]
    if text.startswith("[", stop):
        close = text.find("]", stop)
        if close < 0 or not (text.startswith("=", close + 1) or text.startswith("+=", close + 1)):
            return False
        if not SUBSCRIPT.issuperset(text[stop + 1 : close]):
            raise Unreadable("it has a subscript that is more than a name or a number")
        reader.arithmetic = True
        reader.sums.append([(TEXT, text[stop + 1 : close].replace("$", " "), True)])
        stop = close + 1
    added = text.startswith("+=", stop)
    stop += added
    if not text.startswith("=", stop):
        return False
    reader.at = stop + 1
    if text.startswith("(", stop + 1):
        command.assigns.append((name, array(reader)))
    else:
        command.assigns.append((name + "+" * added, reader.word()))
    return True


def array(reader: Reader) -> list[Word]:
    words: list[Word] = []
    reader.at += 1
    while True:
        reader.blanks(lines=True)
        if reader.text.startswith(")", reader.at):
            reader.at += 1
            return words
        if reader.at >= reader.end or reader.text[reader.at] in ENDS:
            raise Unreadable("an array is not closed")
        words += reader.expanded(reader.word())
