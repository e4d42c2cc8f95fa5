"""$'…': what bash makes of the escapes in it."""

from ibstatus.guard.shell_words import Unreadable

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
