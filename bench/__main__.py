"""Run the measurements and print them as the README's table:  python -m bench [hot wake idle storm mail]."""

import sys

from bench import ground, hot, idle, mail, storm, wake

PARTS = {"hot": hot.measure, "wake": wake.measure, "idle": idle.measure, "storm": storm.measure, "mail": mail.measure}


def main(names: list[str]) -> int:
    rows: list[ground.Row] = []
    for name in names or list(PARTS):
        print(f"measuring {name} …", file=sys.stderr, flush=True)
        rows += PARTS[name]()
    print(ground.table(rows))
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
