"""Bytes of the terminal → what was pressed, typed or pasted.

The prompt line: what was typed, and pastes that stand there as one word.
"""

from typing import NamedTuple

PASTE, PASTE_END = b"\x1b[200~", b"\x1b[201~"
NAMES = {b"A": "Up", b"B": "Down", b"C": "Right", b"D": "Left", b"H": "Home", b"F": "End", b"Z": "BTab"}
CONTROLS = {
    0x0D: "Enter",
    0x0A: "Newline",
    0x09: "Tab",
    0x7F: "BSpace",
    0x08: "BSpace",
    0x03: "C-c",
    0x04: "C-d",
    0x15: "C-u",
    0x17: "C-w",
    0x19: "C-y",
}
AT_ONCE = 800  # so much text in one piece was not typed


class Event(NamedTuple):
    """`kind`: key (its name), text or paste."""

    kind: str
    value: str


class Reader:
    """Keeps what is not complete yet: half a character, half a sequence, a paste whose end has not come."""

    def __init__(self) -> None:
        self.kept = b""

    @property
    def may_be_escape(self) -> bool:
        """A lone ESC: the key, unless more comes at once."""
        return self.kept == b"\x1b"

    def escape(self) -> list[Event]:
        self.kept = b""
        return [Event("key", "Escape")]

    def feed(self, data: bytes) -> list[Event]:
        self.kept += data
        if len(data) > AT_ONCE and b"\x1b" not in self.kept:
            whole, self.kept = complete(self.kept)
            return [Event("paste", whole)]
        events: list[Event] = []
        while self.kept:
            taken = self.one(events)
            if not taken:
                break
            self.kept = self.kept[taken:]
        return events

    def one(self, events: list[Event]) -> int:
        """Append one event; returns how many bytes it took, 0 when more is needed."""
        data = self.kept
        if data.startswith(PASTE):
            end = data.find(PASTE_END, len(PASTE))
            if end < 0:
                return 0
            events.append(Event("paste", data[len(PASTE) : end].decode("utf-8", "replace")))
            return end + len(PASTE_END)
        if data[0] == 0x1B:
            return sequence(data, events)
        if data[0] in CONTROLS:
            events.append(Event("key", CONTROLS[data[0]]))
            return 1
        if data[0] < 0x20:
            return 1
        end = next((place for place, byte in enumerate(data) if byte < 0x20 or byte == 0x7F), len(data))
        text, left = complete(data[:end])
        if text:
            events.append(Event("text", text))
        return end - (len(left) if end == len(data) else 0)


def sequence(data: bytes, events: list[Event]) -> int:
    if len(data) < 2:
        return 0
    if data[1:2] not in (b"[", b"O"):
        events.append(Event("key", "Escape"))
        return 1
    end = next((place for place in range(2, len(data)) if 0x40 <= data[place] <= 0x7E), 0)
    if not end:
        return 0
    if name := NAMES.get(data[end : end + 1]):
        events.append(Event("key", name))
    return end + 1


def complete(data: bytes) -> tuple[str, bytes]:
    """The text, and the bytes of a last character that is not whole yet."""
    for cut in range(min(3, len(data)) + 1):
        head = data[: len(data) - cut]
        try:
            return head.decode(), data[len(data) - cut :]
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", "replace"), b""


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
