"""`…`, $((…)) and ~: what stands inside is read by other rules.

$'…': what bash makes of the escapes in it.
"""

from ibstatus.guard.shell_words import CODE, ENDS, HOME, OPEN, TEXT, Unreadable, Words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.shell_words import Piece


def backticks(words: Words, pieces: "list[Piece]", quoted: bool) -> None:
    """From the opening one to behind the closing one."""
    text, at = words.text, words.at + 1
    out: list[str] = []
    special = '`\\$"' if quoted and not words.in_document else "`\\$"
    stop, slash = text.find("`", at), text.find("\\", at)
    while True:
        if stop < 0:
            raise Unreadable("a backtick is not closed")
        if slash < 0 or slash > stop:
            out.append(text[at:stop])
            break
        follows = text[slash + 1 : slash + 2]
        out.append(text[at:slash] + (follows if follows and follows in special else "\\" + follows))
        at = slash + 2
        slash = text.find("\\", at)
        if stop < at:
            stop = text.find("`", at)
    words.at = stop + 1
    code = words.inner("".join(out))
    words.codes = words.codes if words.codes is not None else []
    words.codes.append(code)
    pieces.append((CODE, code, quoted))


def is_arithmetic(words: Words, at: int) -> bool:
    """Read up to `))`; False, with nothing kept, when it turns out to be two parentheses that follow each other."""
    text, before, open_ = words.text, len(words.codes or ()), 0
    pieces: list[Piece] = []
    plain = at
    while at < words.end:
        char = text[at]
        if char == "(":
            open_ += 1
        elif char == ")":
            if not open_:
                if text.startswith("))", at):
                    words.at = at + 2
                    words.arithmetic = True
                    words.sums.append([*pieces, (TEXT, text[plain:at], True)])
                    return True
                break
            open_ -= 1
        elif char in "$`\"'\\":
            pieces.append((TEXT, text[plain:at], True))
            at = plain = quoted_in(words, at, char, pieces)
            continue
        at += 1
    if words.codes is not None:
        del words.codes[before:]
    return False


def quoted_in(words: Words, at: int, char: str, pieces: "list[Piece]") -> int:
    if char in "'\\":
        raise Unreadable("it has quotes in arithmetic")
    words.at = at
    if char == '"':
        words.at = at + 1
        words.double(pieces)
    elif char == "$":
        words.dollar(pieces, True)
    else:
        backticks(words, pieces, True)
    return words.at


def tilde(words: Words, pieces: "list[Piece]") -> None:
    """Expanded at the start of a word and after `=` or `:`; elsewhere it is a letter."""
    text, at = words.text, words.at
    before = text[at - 1] if pieces and at else ""
    words.at = at + 1
    if pieces and before not in ("=", ":"):
        pieces.append((TEXT, "~", False))
        return
    stop = words.next_mark(at + 1)
    user = text[at + 1 : stop].partition("/")[0].partition(":")[0]
    if stop < words.end and len(user) == stop - at - 1 and text[stop] not in ENDS:
        pieces.append((OPEN, "~", False))
        return
    words.at = at + 1 + len(user)
    pieces.append((HOME, user, False))


PLAIN = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
HEX = frozenset("0123456789abcdefABCDEF")
OCTAL = frozenset("01234567")
DIGITS = {"x": 2, "u": 4, "U": 8}


def ansi(text: str, at: int) -> tuple[str, int]:
    """(the text, where it goes on), from after `$'`."""
    out: list[str] = []
    while at < len(text):
        char = text[at]
        if char == "'":
            return "".join(out), at + 1
        if char != "\\":
            stop = at
            while stop < len(text) and text[stop] not in "'\\":
                stop += 1
            out.append(text[at:stop])
            at = stop
            continue
        made, at = escape(text, at + 1)
        out.append(made)
    raise Unreadable("a quote is not closed")


def escape(text: str, at: int) -> tuple[str, int]:
    char = text[at : at + 1]
    if char in PLAIN:
        return PLAIN[char], at + 1
    if char in OCTAL and char:
        return numbered(text, at, 3, OCTAL, 8)
    if char in DIGITS:
        return numbered(text, at + 1, DIGITS[char], HEX, 16, char)
    if char == "c":
        raise Unreadable("it has a control character in $'…'")
    return "\\" + char, at + 1


def numbered(text: str, at: int, most: int, digits: frozenset[str], base: int, letter: str = "") -> tuple[str, int]:
    stop = at
    while stop < len(text) and stop - at < most and text[stop] in digits:
        stop += 1
    if stop == at:
        return "\\" + letter, at
    value = int(text[at:stop], base)
    if value < 0x20 and value not in (9, 10, 13, 27):
        raise Unreadable("it has a control character in $'…'")  # NUL would end the text, the others are marks of ours
    if value > 0x7F and letter not in ("u", "U"):
        raise Unreadable("it has a byte of its own in $'…'")
    try:
        return chr(value), stop
    except (ValueError, OverflowError):
        raise Unreadable("it has a character that does not exist in $'…'") from None
