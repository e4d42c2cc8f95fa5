"""Run the measurements and print them as a table:  python -m bench [--write] [PART]..."""

import argparse
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
MARKED = re.compile(r"(<!-- bench -->\n)(.*?)(<!-- /bench -->)", re.S)
MEASURED = PROJECT / "docs" / "measured.md"


def main(words: list[str]) -> int:
    options = read(words)
    asked: list[str] = options.parts
    names = asked or list(PARTS)
    rows: list[ground.Row] = []
    for name in names:
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        rows += PARTS[name]()
    table = ground.table(rows)
    print(table)
    if options.write:
        kept = lines_of(table_in(MEASURED)) if asked else {}
        write_down(MEASURED, {**kept, **lines_of(table)})
    return 0 if all(row.holds for row in rows) else 1


def read(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Run the measurements and print a table.")
    parser.add_argument("--write", action="store_true", help="put them into docs/measured.md, too")
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"what to measure, or else everything: {', '.join(PARTS)}"
    )
    options = parser.parse_args(words)
    if unknown := [name for name in options.parts if name not in PARTS]:
        parser.error(f"unknown part: {', '.join(unknown)} (expected: {', '.join(PARTS)})")
    return options


def table_in(path: Path) -> str:
    found = MARKED.search(path.read_text(encoding="utf-8"))
    if found is None:
        raise SystemExit(f"{path} has no place for a table: <!-- bench -->, <!-- /bench -->")
    return found[2]


def lines_of(table: str) -> dict[str, str]:
    """By what they measure. Where not all was measured, the lines of the other parts stay."""
    return {line.split("|")[1]: line for line in table.splitlines()}


def write_down(path: Path, lines: dict[str, str]) -> None:
    text = path.read_text(encoding="utf-8")
    rows = "".join(f"{line}\n" for line in lines.values())
    path.write_text(MARKED.sub(lambda m: m[1] + rows + m[3], text), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
