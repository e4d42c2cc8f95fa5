"""${…}: which variable, and what is done with its value."""

from ibstatus.guard.shell_words import (
    ALL_OF,
    CUT,
    DEFAULT,
    NAME,
    NAME_START,
    ONE_OF,
    OPEN,
    TAME,
    TEXT,
    VAR,
    Unreadable,
    Word,
    Words,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.shell_words import Piece

DEFAULTS = ("-", "=", "?", "+")


def read(words: Words, quoted: bool) -> "Piece":
    """From after `${` to behind the closing brace."""
    words.deeper()
    piece = read_inside(words, quoted)
    words.depth -= 1
    return piece


def read_inside(words: Words, quoted: bool) -> "Piece":
    text = words.text
    if text.startswith("#", words.at) and text[words.at + 1 : words.at + 2] not in ("}", "#", "%", ":", "-", "?"):
        rest(words, quoted, True)
        return TAME, "", quoted
    if text.startswith("!", words.at):
        inside = rest(words, quoted, True)
        if text[inside.end - 1] not in "@*" and not inside.raw.endswith(("[@]", "[*]")):
            words.arithmetic = True  # the value is a name, with a subscript perhaps
            words.sums.append([(TEXT, inside.raw[1:], True)])
            return OPEN, "", quoted
        return OPEN, inside.raw[1:].partition("[")[0], quoted  # the keys of an array
    name = named(words)
    if not name:
        raise Unreadable("it has ${…} without a plain name")
    if text.startswith("[", words.at):
        name += ALL_OF if text.startswith(ALL_OF, words.at) else ""
        name += "" if subscript(words) else ONE_OF
    at = words.at
    char = text[at : at + 1]
    if char == "}":
        words.at = at + 1
        return VAR, name, quoted
    after = text[at + 1 : at + 2]
    if char in DEFAULTS or (char == ":" and after in DEFAULTS):
        words.at = at + (2 if char == ":" else 1)
        operator = after if char == ":" else char
        if operator == "=" and decides(name):
            raise Unreadable(f"${{{name}:=…}} changes which programs or rules hold")
        word = rest(words, quoted, False)
        if operator == "=":
            words.sums.append(word.pieces)
        return DEFAULT, (name, operator, word), quoted
    if char in ("%", "#"):
        operator = char * 2 if after == char else char
        words.at = at + len(operator)
        return CUT, (name, operator, rest(words, quoted, True)), quoted
    if char == "@" and after == "P":
        raise Unreadable("${…@P} runs what is in a variable")
    if char == "/":
        words.at = at + (2 if after == "/" else 1)
        return CUT, (name, "//" if after == "/" else "/", rest(words, quoted, True)), quoted
    if char in ("^", ",", ":", "@"):
        words.at = at + 1
        change = rest(words, quoted, True)
        if char == ":":
            words.arithmetic = True
            words.sums.append(change.pieces)
        return OPEN, "", quoted
    raise Unreadable("it has a ${…} that is not bash")


def decides(name: str) -> bool:
    from ibstatus.guard import environment

    return environment.decides(name)


def named(words: Words) -> str:
    text, at = words.text, words.at
    stop = at
    if text[at : at + 1] in NAME_START and at < words.end:
        while stop < words.end and text[stop] in NAME:
            stop += 1
    elif text[at : at + 1].isdigit():
        while stop < words.end and text[stop].isdigit():
            stop += 1
    elif text[at : at + 1] in ("@", "*") or text[at : at + 1] in ("#", "?", "-", "$"):
        stop = at + 1
    words.at = stop
    return text[at:stop]


def subscript(words: Words) -> bool:
    """Is it [@] or [*], all there is? [@], [*], [3], [name]; an expression with more in it can run commands."""
    close = words.text.find("]", words.at)
    inside = words.text[words.at + 1 : close] if close > 0 else "$"
    if inside not in ("@", "*"):
        words.arithmetic = True
        words.sums.append([(TEXT, inside.replace("$", " "), True)])
    if not all(char in NAME or char in "@*-+ $#" for char in inside):
        raise Unreadable("it has a subscript that is more than a name or a number")
    words.at = close + 1
    return inside in ("@", "*")


def rest(words: Words, quoted: bool, pattern: bool) -> Word:
    """The word up to the closing brace. Inside double quotes single ones mean two things: not guessed."""
    text, start = words.text, words.at
    pieces: list[Piece] = []
    plain = start
    if not quoted and text.startswith("~", start):
        pieces.append((OPEN, "~", False))
    while words.at < words.end:
        at = words.at
        char = text[at]
        if char not in "}$`\"'\\*?[" and not (char in "<>" and text.startswith("(", at + 1)):
            words.at = at + 1
            continue
        if at > plain:
            pieces.append((TEXT, text[plain:at], quoted and not pattern))
        if char == "}":
            words.at = at + 1
            return Word(text, start, at, pieces, quoted, None)
        special(words, pieces, char, quoted)
        plain = words.at
    raise Unreadable("${ is not closed")


def special(words: Words, pieces: "list[Piece]", char: str, quoted: bool) -> None:
    text, at = words.text, words.at
    if char in "<>":
        raise Unreadable("it has a process substitution inside ${…}")
    if char == "$":
        words.dollar(pieces, quoted)
    elif char == "`":
        words.nested().backticks(words, pieces, quoted)
    elif char == "\\":
        if text[at + 1 : at + 2] in ("", "\n"):
            raise Unreadable("a line goes on inside ${…}")
        pieces.append((TEXT, text[at + 1], True))
        words.at = at + 2
    elif char in "*?[":
        pieces.append((OPEN, char, quoted))
        words.at = at + 1
    elif quoted:
        raise Unreadable("it has quotes inside ${…} inside quotes")
    elif char == '"':
        words.at = at + 1
        words.double(pieces)
    else:
        close = text.find("'", at + 1)
        if close < 0:
            raise Unreadable("a quote is not closed")
        pieces.append((TEXT, text[at + 1 : close], True))
        words.at = close + 1
