"""Run the measurements and print them as a table:  python -m bench [--write] [PART]...

--write puts them into docs/measured.md, and those that the README shows into that.

The parts: hot inject guard wake rungs idle storm mail saves gitstorm start spawn scan tick listing latency states
titles board board-postgres board-merge sim.
"""

import re
import sys
from pathlib import Path

from bench import (
    board_merge,
    board_postgres,
    board_sqlite,
    gitstorm,
    ground,
    guard,
    hot,
    idle,
    inject,
    latency,
    listing,
    mail,
    rungs,
    saves,
    scan,
    sim,
    spawn,
    start,
    states,
    storm,
    tick,
    titles,
    wake,
)

PARTS = {
    "hot": hot.measure,
    "inject": inject.measure,
    "guard": guard.measure,
    "wake": wake.measure,
    "rungs": rungs.measure,
    "idle": idle.measure,
    "storm": storm.measure,
    "mail": mail.measure,
    "saves": saves.measure,
    "gitstorm": gitstorm.measure,
    "start": start.measure,
    "spawn": spawn.measure,
    "scan": scan.measure,
    "tick": tick.measure,
    "listing": listing.measure,
    "latency": latency.measure,
    "states": states.measure,
    "titles": titles.measure,
    "board": board_sqlite.measure,
    "board-postgres": board_postgres.measure,
    "board-merge": board_merge.measure,
    "sim": sim.measure,
}
PROJECT = Path(__file__).resolve().parent.parent
ALL, SHOWN = PROJECT / "docs" / "measured.md", PROJECT / "README.md"


def main(words: list[str]) -> int:
    names = [word for word in words if not word.startswith("-")] or list(PARTS)
    rows: list[ground.Row] = []
    for name in names:
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        rows += PARTS[name]()
    table = ground.table(rows)
    print(table)
    if "--write" in words:
        write_down(ALL, table, adds=True)
        write_down(SHOWN, table, adds=False)
    return 0 if all(row.holds for row in rows) else 1


def write_down(path: Path, table: str, *, adds: bool) -> None:
    """What was measured now; the lines of parts that were not asked for stay."""
    text = path.read_text(encoding="utf-8")
    known = re.search(r"<!-- bench -->\n(.*?)<!-- /bench -->", text, flags=re.S)
    rows = {line.split("|")[1]: line for line in (known[1] if known else "").splitlines()}
    now = {line.split("|")[1]: line for line in table.splitlines()}
    rows |= now if adds else {what: now[what] for what in rows if what in now}
    lines = "\n".join(rows.values())
    marked = re.sub(r"(<!-- bench -->\n).*?(<!-- /bench -->)", lambda m: m[1] + lines + "\n" + m[2], text, flags=re.S)
    path.write_text(marked, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
