"""Bytes of the terminal → what was pressed, typed or pasted."""

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
