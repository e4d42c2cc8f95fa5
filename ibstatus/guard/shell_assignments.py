"""name=value, name[3]+=value and name=(…) in front of a command.

Which variables a command line assigns, and what to: all of it, whatever the order.
"""

from ibstatus.guard.shell_parse import DECLARES, FOR, FUNCTION, LOOP, Block, Reader, Redirect, Simple
from ibstatus.guard.shell_words import ENDS, NAME, PIPE, TAME, TEXT, Unreadable, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ibstatus.guard.shell_parse import Seq

    Assigned = dict[str, list[Any]]


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


ARGUMENTS = (*tuple("123456789"), "@", "*")
READS = frozenset(("read", "mapfile", "readarray"))
VALUED = "adinNptu"  # options of read that take a value; mapfile's are others, but none is a name


def collect(scripts: "list[Seq]", assigned: "Assigned") -> None:
    functions: set[str] = set()
    for seq in scripts:
        visit(seq, assigned, functions, None)
    if functions:
        for seq in scripts:
            calls(seq, assigned, functions)


def visit(seq: "Seq", assigned: "Assigned", functions: set[str], stdin: "Any") -> None:
    """`stdin`: what the commands of this read: a Seq whose output it is, a Word that is the text, or None."""
    for _, parts in seq:
        for _, _, pipe in parts:
            for at, command in enumerate(pipe):
                source = [(False, [("", False, pipe[:at])])] if at else stdin
                for redirect in command.redirects:
                    source = source_of(redirect, source)
                    codes(redirect.target, assigned, functions)
                if isinstance(command, Simple):
                    simple(command, assigned, functions, source)
                else:
                    block(command, assigned, functions, source)


def source_of(redirect: Redirect, source: "Any") -> "Any":
    if redirect.descriptor.strip("0"):
        return source
    if redirect.operator in ("<<", "<<-", "<<<"):
        return redirect.target
    if redirect.operator[0] == "<":
        pieces = redirect.target.pieces
        return pieces[0][1] if len(pieces) == 1 and pieces[0][0] == PIPE else None
    return source


def codes(word: Word, assigned: "Assigned", functions: set[str]) -> None:
    for seq in word.codes or ():
        visit(seq, assigned, functions, None)


def simple(command: Simple, assigned: "Assigned", functions: set[str], stdin: "Any") -> None:
    name = command.words[0].text if command.words else None
    for variable, value in command.assigns:
        if isinstance(value, Word):
            codes(value, assigned, functions)
            if variable == "IFS" and name in READS:
                continue
            more(variable, value, assigned)
        else:
            for word in value:
                codes(word, assigned, functions)
            assigned.setdefault(variable, []).append(tuple(value))
    for word in command.words:
        codes(word, assigned, functions)
    if name in ("command", "builtin") and len(command.words) > 1:
        name = command.words[1].text
    if name in DECLARES:
        declared(command.words[1:], assigned)
    elif name in READS:
        source = stdin if len(command.words) > 1 else None
        for word in [*command.words[1:], Word("", 0, 0, [(TEXT, "REPLY", False)], False, None)]:
            if word.text is None or not word.text.startswith("-"):
                assigned.setdefault((word.text or "").partition("[")[0], []).append(source)
    elif name in ("printf", "getopts", "let", "unset", "wait"):
        number = Word("", 0, 0, [(TAME, "", False)], True, None)
        for word in command.words[1:]:
            text = (word.text or "").removeprefix("-v").partition("=")[0].partition("[")[0]
            assigned.setdefault(text.rstrip("+-*/%"), []).append(number if name == "let" else None)
    elif name == "set":
        words = tuple([word for word in command.words[1:] if word.text is None or not word.text.startswith("-")])
        arguments(assigned, words)


def declared(words: list[Word], assigned: "Assigned") -> None:
    for at, word in enumerate(words):
        first = word.pieces[0] if word.pieces else (TEXT, "", False)
        if first[0] != TEXT or "=" not in first[1]:
            continue
        name, _, text = first[1].partition("=")
        pieces = [(TEXT, text, first[2]), *word.pieces[1:]]
        value = Word(word.source, word.start, word.end, pieces, word.quoted, None)
        more(name, value, assigned)
        name = name.rstrip("+").partition("[")[0]
        if not text and len(word.pieces) == 1 and word.source[word.end : word.end + 1] == "(":
            assigned.setdefault(name, []).append(tuple(words[at + 1 :]))


def more(name: str, value: Word, assigned: "Assigned") -> None:
    """+= puts it behind what is there: ("more", value, is it in a loop)."""
    adds, name = name.endswith("+"), name.rstrip("+").partition("[")[0]
    assigned.setdefault(name, []).append(("more", value, False) if adds else value)


def repeated(assigned: "Assigned") -> None:
    """What a loop or a function adds may be added many times."""
    for values in assigned.values():
        values[:] = [
            ("more", one[1], True) if isinstance(one, tuple) and one[:1] == ("more",) else one for one in values
        ]


def block(command: Block, assigned: "Assigned", functions: set[str], stdin: "Any") -> None:
    for word in command.words or ():
        codes(word, assigned, functions)
    if command.kind == FOR and command.name:
        values: list[Any] = [None] if command.words is None else list(command.words)
        assigned.setdefault(command.name, []).extend(loop_values(values))
    if command.kind == FUNCTION:
        functions.add(command.name)
    for seq in command.parts:
        visit(seq, assigned, functions, stdin)
    if command.kind in (FOR, LOOP, FUNCTION):
        repeated(assigned)


def loop_values(words: "list[Any]") -> "list[Any]":
    """A loop takes the fields of its words one by one: each is a value, not all of them together."""
    return [("each", word) if isinstance(word, Word) and word.text is None else word for word in words]


def arguments(assigned: "Assigned", words: tuple[Word, ...]) -> None:
    for name in ARGUMENTS:
        if name in "@*":
            assigned.setdefault(name, []).append(words)
        else:
            assigned.setdefault(name, []).extend(words)


def calls(seq: "Seq", assigned: "Assigned", functions: set[str]) -> None:
    """The arguments of every call of a function that the line defines are what $1, $2 … can be."""
    for _, parts in seq:
        for _, _, pipe in parts:
            for command in pipe:
                if isinstance(command, Block):
                    for part in command.parts:
                        calls(part, assigned, functions)
                elif command.words and command.words[0].text in functions:
                    arguments(assigned, tuple(command.words[1:]))
