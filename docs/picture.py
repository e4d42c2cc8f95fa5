"""Draw docs/demo.svg, the picture of the README, from a real run of `ib demo`:  make picture."""

import html
import re
import subprocess
import sys
from pathlib import Path

TARGET = Path(__file__).with_name("demo.svg")
COLUMNS, CELL, LINE, PAD = 104, 8.05, 19, 18
COLOURS = {"90": "#7d8590", "35": "#d2a8ff", "36": "#79c0ff", "33": "#e3b341"}
ESCAPE = re.compile(r"\x1b\[([\d;]*)m")


def spans(line: str) -> list[tuple[str, str]]:
    """(text, style) pieces of a line with colour codes."""
    found, style, at = [], "", 0
    for match in ESCAPE.finditer(line):
        found.append((line[at : match.start()], style))
        code, at = match.group(1), match.end()
        style = "" if code == "0" else "bold" if code == "1" else COLOURS.get(code, style)
    found.append((line[at:], style))
    return [(text, style) for text, style in found if text]


def wrapped(pieces: list[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Lines of at most COLUMNS characters; what goes on is indented as the output is."""
    rows: list[list[tuple[str, str]]] = [[]]
    room = COLUMNS
    for text, style in pieces:
        while text:
            rows[-1].append((text[:room], style))
            text, room = text[room:], room - len(text[:room])
            if text:
                rows.append([(" " * 14, "")])
                room = COLUMNS - 14
    return rows


def drawn(pieces: list[tuple[str, str]], y: float) -> str:
    parts = []
    for text, style in pieces:
        look = ' font-weight="600" fill="#f0f6fc"' if style == "bold" else f' fill="{style}"' if style else ""
        parts.append(f"<tspan{look}>{html.escape(text)}</tspan>")
    return f'<text x="{PAD}" y="{y:.0f}" xml:space="preserve">{"".join(parts)}</text>'


def picture(text: str) -> str:
    rows = [row for line in text.strip("\n").splitlines() for row in wrapped(spans(line))]
    width, height = COLUMNS * CELL + 2 * PAD, len(rows) * LINE + 2 * PAD
    body = "\n".join(drawn(row, PAD + LINE * (number + 0.8)) for number, row in enumerate(rows))
    font = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img" aria-label="ib demo">\n'
        f'<rect width="100%" height="100%" rx="8" fill="#0d1117"/>\n'
        f'<g font-family="{font}" font-size="13.3" fill="#c9d1d9">\n{body}\n</g>\n</svg>\n'
    )


def main() -> None:
    ib = Path(sys.executable).with_name("ib")
    shown = subprocess.run([ib, "demo", "--color"], capture_output=True, text=True, check=True).stdout
    shown = re.sub(r"/\S*/ib-demo-[^/]*/", "/tmp/demo/", shown)  # the throw-away folder's name says nothing
    TARGET.write_text(picture(shown), encoding="utf-8")
    print(f"drew {TARGET.name}", file=sys.stderr)


if __name__ == "__main__":
    main()
