"""Run what has more to try than a check has time for: random examples, every step of each kill, storms.

    make soak                                 for ten minutes, with a new seed
    make soak MINUTES=60 SEED=123             for an hour at most, with the examples and the order of that seed
    python -m tests.soak --seed 123 TEST      what one test did

It goes on with the next seed until the time is over or a test fails; a failure says how to repeat it.
"""

import argparse
import os
import random
import subprocess
import sys
import time

EVERYTHING = "soak or sweep or hypothesis"
CHANCE = "soak or hypothesis"  # what differs from seed to seed
HIGHEST = 1 << 30
NOTHING_RUN = 5  # how pytest says that no test was selected


def main(argv: list[str]) -> int:
    asked = read(argv)
    until = time.time() + 60 * asked.minutes
    seed = asked.seed if asked.seed is not None else random.SystemRandom().randrange(HIGHEST)
    marks = EVERYTHING
    while True:
        code = run_tests(seed, marks, until, asked.tests)
        if code not in (0, NOTHING_RUN):
            print(f"To repeat it:  make soak SEED={seed}   or  {sys.executable} -m tests.soak --seed {seed} TEST")
            return code
        if asked.tests or time.time() > until:
            return 0
        seed, marks = (seed + 1) % HIGHEST, CHANCE


def read(argv: list[str]) -> argparse.Namespace:
    summary, _, usage = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(
        prog="python -m tests.soak", description=summary, epilog=usage, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="begin no test after this time (10)")
    parser.add_argument("--seed", type=int, help="the seed of the examples and of the order")
    parser.add_argument("tests", nargs="*", metavar="TEST", help="only these; once, without a limit of time")
    return parser.parse_args(argv)


def run_tests(seed: int, marks: str, until: float, tests: list[str]) -> int:
    print(f"make soak SEED={seed}", flush=True)
    seeds = [f"--randomly-seed={seed}", f"--hypothesis-seed={seed}"]
    argv = [sys.executable, "-m", "pytest", *seeds, "-q", "-x", "--timeout=900"]
    argv += tests or ["-m", marks]
    argv += ["-m", "not peer"] if tests else []
    env = {**os.environ, "IB_SOAK": "1", **({} if tests else {"IB_SOAK_UNTIL": str(until)})}
    return subprocess.run(argv, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
