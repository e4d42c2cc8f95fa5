"""The terminal: raw, on its other screen, written to where a line has changed; and put back as it was."""

import os
import termios

ENTER = b"\x1b[?1049h\x1b[2J\x1b[?25l\x1b[?7l\x1b[?2004h"
LEAVE = b"\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l"
TITLE = "\x1b]0;✳ Claude Code\x07"


def of_process() -> int | None:
    """The terminal that keys come from: stdin, or with stdin elsewhere the one that stdout is."""
    if not os.isatty(1):
        return None
    if os.isatty(0):
        return 0
    try:
        return os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None


class Terminal:
    def __init__(self, keys: int) -> None:
        self.keys = keys
        self.before = termios.tcgetattr(keys)
        self.drawn: list[str] = []
        self.is_gone = False

    def open(self) -> None:
        raw = termios.tcgetattr(self.keys)
        raw[0] &= ~(termios.BRKINT | termios.ICRNL | termios.INPCK | termios.ISTRIP | termios.IXON | termios.INLCR)
        raw[1] &= ~termios.OPOST
        raw[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
        raw[6][termios.VMIN], raw[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self.keys, termios.TCSANOW, raw)
        title = b"" if os.environ.get("CLAUDE_CODE_DISABLE_TERMINAL_TITLE") else TITLE.encode()
        self.write(ENTER + title)

    def close(self) -> None:
        """The words on the ordinary screen come after this."""
        self.write(LEAVE)
        try:
            termios.tcsetattr(self.keys, termios.TCSANOW, self.before)
        except termios.error:
            pass

    def read(self) -> bytes | None:
        """None when the terminal is closed."""
        try:
            data = os.read(self.keys, 65536)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        self.is_gone = not data
        return data or None

    def size(self) -> tuple[int, int]:
        """(columns, rows)"""
        try:
            columns, rows = os.get_terminal_size(1)
        except OSError:
            return 80, 24
        return columns or 80, rows or 24

    def draw(self, lines: list[str]) -> None:
        """Only what is another line than before."""
        parts = []
        for row, line in enumerate(lines):
            if row >= len(self.drawn) or self.drawn[row] != line:
                parts.append(f"\x1b[{row + 1};1H\x1b[0m\x1b[2K{line}")
        self.drawn = lines
        if parts:
            self.write("".join(parts).encode("utf-8", "replace"))

    def forget(self) -> None:
        """Everything is drawn anew: the size is another one."""
        self.drawn = []
        self.write(b"\x1b[0m\x1b[2J")

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view and not self.is_gone:
                view = view[os.write(1, view) :]
        except OSError:
            self.is_gone = True


def say(text: str) -> None:
    """On stdout, whatever it is by now."""
    view = memoryview(text.encode("utf-8", "replace"))
    try:
        while view:
            view = view[os.write(1, view) :]
    except OSError:
        pass
