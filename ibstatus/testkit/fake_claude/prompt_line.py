"""The prompt line: what was typed, and pastes that stand there as one word."""

from typing import NamedTuple

MANY_LINES, LONG = 3, 800  # from so many newlines, over so many characters a paste is shown as one word
TAB = "    "


class Piece(NamedTuple):
    shown: str
    real: str


class PromptLine:
    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.pastes = 0
        self.killed: list[Piece] = []
        self.is_shell = False  # a ! at its beginning turned it into a shell's

    @property
    def shown(self) -> str:
        return "".join(piece.shown for piece in self.pieces)

    @property
    def real(self) -> str:
        return "".join(piece.real for piece in self.pieces)

    @property
    def is_empty(self) -> bool:
        return not self.pieces

    def type(self, text: str) -> None:
        if self.is_empty and not self.is_shell and text.startswith("!"):
            self.is_shell = True
            text = text[1:]
        self.pieces += [Piece(char, char) for char in text]

    def paste(self, text: str) -> int:
        """What cannot be seen is taken out, as in the client; returns how many characters that were."""
        text = plain(text)
        kept = "".join([char for char in text if char == "\n" or char.isprintable()])
        lines = kept.count("\n")
        if lines < MANY_LINES and len(kept) <= LONG:
            self.type(kept)
        else:
            self.pastes += 1
            more = f" +{lines} lines" if lines else ""
            self.pieces.append(Piece(f"[Pasted text #{self.pastes}{more}]", kept))
        return len(text) - len(kept)

    def back(self) -> None:
        if self.pieces:
            self.pieces.pop()
        else:
            self.is_shell = False

    def kill(self) -> None:
        """To the beginning of its line; at the beginning, the line break before it."""
        start = max((place + 1 for place, piece in enumerate(self.pieces) if piece.shown == "\n"), default=0)
        start = start if start < len(self.pieces) else start - 1
        if self.pieces:
            self.killed = self.pieces[max(start, 0) :]
            del self.pieces[max(start, 0) :]
        else:
            self.is_shell = False

    def kill_word(self) -> None:
        while self.pieces and self.pieces[-1].shown.isspace():
            self.pieces.pop()
        while self.pieces and not self.pieces[-1].shown.isspace():
            self.pieces.pop()

    def yank(self) -> None:
        self.pieces += self.killed

    def clear(self) -> str:
        """Take everything off it."""
        text = self.real
        self.pieces = []
        self.is_shell = False
        return text


def plain(text: str) -> str:
    """Newlines as one character, tabs as blanks, escape sequences gone."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", TAB)
    if "\x1b" not in text:
        return text
    import re

    return re.sub(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|.)?", "", text)
