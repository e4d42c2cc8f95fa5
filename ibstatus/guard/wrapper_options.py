"""The options of programs that run another program: which take the next word, so that it is clear where that begins."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.guard.shell_values import Fields

# name → (short ones with a value, short ones without, long ones with a value, long ones without, plain words before)
TABLE = {
    "timeout": ("ks", "fpv", "--kill-after --signal", "--foreground --preserve-status --verbose", 1),
    "nice": ("n", "", "--adjustment", "", 0),
    "setsid": ("", "cfw", "", "--ctty --fork --wait", 0),
    "stdbuf": ("ioe", "", "--input --output --error", "", 0),
    "ionice": ("cnpPu", "t", "--class --classdata --pid --pgid --uid", "--ignore", 0),
    "chrt": ("TPD", "abdfimorRv", "--sched-runtime --sched-period --sched-deadline",
             "--batch --deadline --fifo --idle --other --rr --reset-on-fork --verbose --all-tasks", 1),
    "taskset": ("", "ac", "", "--all-tasks --cpu-list", 1),
    "time": ("fo", "apvq", "--format --output", "--append --portability --verbose --quiet", 0),
    "command": ("", "p", "", "", 0),
    "exec": ("a", "cl", "", "", 0),
    "env": ("uCaS", "iv0", "--unset --chdir --argv0 --split-string",
            "--ignore-environment --null --debug --block-signal --default-signal --ignore-signal", 0),
    "xargs": ("aEIdLnPs", "0oprtx", "--arg-file --delimiter --max-args --max-procs --max-chars --process-slot-var",
              "--null --interactive --no-run-if-empty --verbose --exit --open-tty --show-limits --replace --max-lines "
              "--eof", 0),
    "sudo": ("ugpCThRDrt", "AbEHknPS", "--user --group --prompt --chdir --host --chroot --role --type",
             "--non-interactive --preserve-env --set-home --background --stdin --askpass", 0),
    "doas": ("uC", "n", "", "", 0),
    "unbuffer": ("", "p", "", "", 0),
    "caffeinate": ("tw", "dimsu", "", "", 0),
    "chronic": ("", "ve", "", "", 0),
    "flock": ("wE", "sxeunoFv", "--timeout --wait --conflict-exit-code",
              "--shared --exclusive --unlock --nonblock --nb --close --no-fork --verbose", 1),
    "watch": ("nq", "bcCdegprtwx", "--interval --equexit",
              "--differences --errexit --chgexit --beep --color --no-color --no-title --precise --exec --no-wrap "
              "--no-rerun", 0),
    "strace": ("abeEIoOpPsSuUX", "cCdDfFhiknqrtTvVwxyYzZ", "", "", 0),
    "ltrace": ("aADeFlnopsuwx", "bcCfhiLrStTV", "", "", 0),
    "xvfb-run": ("enfspw", "al", "", "--auto-servernum --listen-tcp", 0),
}  # fmt: skip
ATTACHED = {"xargs": "eil"}  # with a value only in the same word
PLAIN = ("", "", "", "", 0)


def start_of(argv: "Fields", name: str, *, assigns: bool) -> "tuple[int, str]":
    """(where its program begins, the option that is not known or '')."""
    valued, flags, long_valued, long_flags, skipped = TABLE.get(name, PLAIN)
    at, unknown = 1, ""
    while at < len(argv):
        arg = argv[at]
        if arg == "--":
            at += 1
            break
        if arg == "-" and name == "env":  # as -i
            at += 1
            continue
        if arg.startswith("--"):
            option, mark, _ = arg.partition("=")
            meant = full(option, [*long_valued.split(), *long_flags.split()])
            unknown = unknown or ("" if meant or mark else arg)
            at += 2 if not mark and meant in long_valued.split() else 1
        elif arg.startswith("-") and len(arg) > 1:
            if name == "nice" and arg[1:].lstrip("+-").isdigit():
                at += 1
                continue
            takes, known = cluster(arg[1:], valued, flags, ATTACHED.get(name, ""))
            unknown = unknown or ("" if known else arg)
            at += 1 + takes
        elif assigns and "=" in arg and not arg.startswith("="):
            at += 1
        else:
            break
    at += skipped
    while assigns and at < len(argv) and "=" in argv[at]:
        at += 1
    return at, unknown


def full(option: str, longs: list[str]) -> str:
    """The option that an abbreviation means; '' when it is not one of them alone."""
    if option in longs:
        return option
    found = [one for one in longs if one.startswith(option)]
    return found[0] if len(found) == 1 else ""


def cluster(letters: str, valued: str, flags: str, attached: str) -> tuple[bool, bool]:
    """(is the next word the value of the last letter, are all letters known)."""
    for at, letter in enumerate(letters):
        if letter in attached:
            return False, True
        if letter in valued:
            return at == len(letters) - 1, True
        if letter not in flags:
            return False, False
    return False, True
