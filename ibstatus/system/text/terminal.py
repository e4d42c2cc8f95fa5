"""Somebody else's text for a terminal: readable as it is, and nothing in it that steers."""

import unicodedata

BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
STEERS = ("Cc", "Cs", "Zl", "Zp")


def harmless(text: str) -> str:
    """Lines stay lines, tabs become blanks, the rest of what steers is shown as what it is."""
    text = text.replace("\r\n", "\n").expandtabs(8)
    return "\n".join(
        [line if line.isascii() and line.isprintable() else "".join(map(shown, line)) for line in parts(text)]
    )


def parts(text: str) -> list[str]:
    return text.split("\n")


def shown(char: str) -> str:
    if char in BIDI or unicodedata.category(char) in STEERS:
        return char.encode("unicode_escape", "surrogatepass").decode()
    return char


def last(text: str, lines: int | None) -> str:
    """Its last lines; empty ones at its end do not count."""
    kept = text.rstrip().split("\n")
    return "\n".join(kept if lines is None else kept[max(0, len(kept) - lines) :])
