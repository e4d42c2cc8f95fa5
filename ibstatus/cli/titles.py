"""titles, and `ib doctor titles`."""

import time
from collections.abc import Sequence

import click

from ibstatus.cli import output
from ibstatus.cli.mail import as_json
from ibstatus.errors import visible
from ibstatus.project import paths
from ibstatus.system.text import times
from ibstatus.titles import title_widths
from ibstatus.titles import titles as op

NONE = "No window has a title of ib. Titles need: ib hooks install, and Claude inside of tmux."
MARKS = {True: "yes", False: "no"}


HELP = f"""Show the sessions whose state ib puts into window titles: in the tmux that you are in, and in the agents'.

--tmux-format prints what shows the glyph of a window's session in tmux's own status line, in the set of glyphs that
is configured, and nothing for a window without a session. The line for ~/.tmux.conf:

\b
  set -g status-right "{op.FORMAT} %H:%M"

It reads what the hooks tell tmux, so tmux.titles must not be off; they also rename the windows, unless tmux is told
not to. Then each window in the list can have its glyph from the format:

\b
  set -g @ib_rename off
  set -g window-status-format "#I:{op.FORMAT}#W"
"""


@click.command(short_help="Show the window titles, or print a format for the status line", help=HELP)
@click.option("--tmux-format", "form", is_flag=True, help="Print the format string for tmux's status line")
@as_json
def titles(form: bool, json: bool) -> int:
    if form:
        output.data(op.FORMAT)
        return 0
    found = op.shown()
    if json:
        output.as_json([title._asdict() for title in found])
    elif not found:
        output.data(NONE)
    else:
        for line in table(found, time.time()):
            output.data(line)
    return 0


def table(found: list[op.Title], now: float) -> list[str]:
    """The title stands last: terminals differ in how wide they draw an emoji."""
    rows = [("WINDOW", "STATE", "SINCE", "WHOSE", "TITLE")]
    for title in found:
        since = times.age(now - title.since) if title.since else "-"
        rows.append((title.window, title.state, since, title.whose, title.title))
    return aligned([[visible(cell) for cell in row] for row in rows])


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(title_widths.columns, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(padded, row, widths)).rstrip() for row in rows]


def padded(cell: str, width: int) -> str:
    return cell + " " * (width - title_widths.columns(cell))


def widths(json: bool) -> int:
    """`ib doctor titles`."""
    found = title_widths.measure(paths.here)
    if json:
        output.as_json(as_data(found))
        return 0
    where = f": {visible(found.socket)}" if found.socket else ""
    term = visible(found.term) or "(not set)"
    output.data(f"tmux {visible(found.version)} ({found.server}{where}); TERM: {term}")
    for client in found.clients:
        output.data(f"client {visible(client.tty)}: {visible(client.term)}, UTF-8: {MARKS[client.utf8]}")
    for line in width_table(found.glyphs):
        output.data(line)
    output.data(advice(found))
    return 0


def as_data(found: title_widths.Widths) -> dict[str, object]:
    return {
        **found._asdict(),
        "clients": [client._asdict() for client in found.clients],
        "glyphs": [{**width._asdict(), "fits": width.fits} for width in found.glyphs],
        "command": found.command,
    }


def width_table(found: list[title_widths.Width]) -> list[str]:
    rows = [["GLYPH", "FOR", "SETS", "IN TMUX", "SHOULD BE", ""]]
    for width in found:
        mark = "" if width.fits else "✗"
        rows.append([width.glyph, width.meaning, " ".join(width.styles), str(width.tmux), str(width.wanted), mark])
    return aligned(rows)


def advice(found: title_widths.Widths) -> str:
    wrong = [width.glyph for width in found.glyphs if not width.fits and found.used in width.styles]
    miscounted = f"tmux miscounts {', '.join(wrong)} of the set in use, {found.used}. " if wrong else ""
    if found.command:
        return f"{miscounted}Use the set {found.wanted}: {found.command}"
    return f"The set in use, {found.used}, renders correctly here."
