"""A day of fifty agents, with everything real but the model and the clock: how long, and which promises hold."""

import json
import os
import subprocess
import sys
import time

from bench.ground import Row, ib, repository

AGENTS, HOURS, SEED = 50, 24, 1
BAR = 600.0


def measure() -> list[Row]:
    with repository(watched=False) as place:
        load, began = os.getloadavg()[0], time.monotonic()
        argv = ib("sim", "--agents", str(AGENTS), "--hours", str(HOURS), "--seed", str(SEED), "--json")
        done = subprocess.run(argv, cwd=place.root, capture_output=True, text=True, check=False)
        spent = time.monotonic() - began
    report = json.loads(done.stdout)
    broken = [one["name"] for one in report["promises"] if one["broken"]]
    for one in report["promises"]:
        for what in one["broken"]:
            print(f"  {one['name']}: {what}", file=sys.stderr)
    acts = sum(report["acts"].values())
    return [
        Row(
            f"`ib sim --agents {AGENTS} --hours {HOURS}`",
            f"{spent:.0f} s for {acts} acts (load before {load:.1f})",
            f"{BAR:.0f} s",
            spent < BAR,
        ),
        Row("promises that it broke", ", ".join(broken) or "none", "none", not broken),
    ]
