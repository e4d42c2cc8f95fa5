"""The command lines that Claude Code runs as hooks. The shell stays and judges: a python that is missing exits 2, and
2 means *block*; one that crashes exits 1, and that means *allow*; what a shell says of a killed child is seen by all.

All are for `sh -c`. `program` is (python, stub): absolute paths. Every line ends with MARK, by which ours are known.
"""

from ibstatus.claude import hook_output
from ibstatus.errors import quoted
from ibstatus.model import constants

MARK = " # ib"
STUB = "/ibstatus/hooks/stub.py"
RUNG = "[ib] News from your agents. It stands in this turn's context; if not, run: ib messages; ib questions"
GONE = "ib's guard cannot run (ib was moved or removed), so nothing is allowed. Say so and end your turn with WAITING"
PLUGIN = '"${CLAUDE_PLUGIN_ROOT}/hooks/run"'
TITLES = "notify-tmux"
IN_TMUX = '[ -n "$TMUX_PANE" ] && '
SETTINGS = "${CLAUDE_PROJECT_DIR%/repo}/../$IB_AGENT_ID/settings.local.json"
IN_AGENT = f'[ -e "${{IB_AGENT_ID:+{SETTINGS}}}" ]'

Program = tuple[str, str]


def started(program: Program, hook: str, *args: str) -> str:
    """Isolated, without site: what it imports is the standard library and ib."""
    python, stub = program
    return " ".join([quoted(python), "-S", "-E", "-I", quoted(stub), hook, *args])


def quiet(program: Program, hook: str, *args: str) -> str:
    """A hook that may only add: whatever happens to it, the session goes on as if it were not there. Without `args` it
    is the primary's."""
    run = f"{in_tmux(hook)}[ -r {quoted(program[1])} ] && {started(program, hook, *map(quoted, args))}"
    return f"{{ {run if args else of_primary(run)}; cat >/dev/null; }} 2>/dev/null; exit 0{MARK}"


def in_tmux(hook: str) -> str:
    """Out of tmux there is no window, and nothing is started for it."""
    return IN_TMUX if hook == TITLES else ""


def of_primary(run: str) -> str:
    """An agent's client reads the main checkout's settings too: nothing is started for what its own hooks do. A test of
    the shell, at every tool call of every agent; `Event.is_doubled` judges what it cannot see."""
    return f"{IN_AGENT} || {{ {run}; }}"


def bell(program: Program, hook: str, *, client: bool = False) -> str:
    """An asyncRewake hook: exit 2 wakes the session, and only news may do that. `client`: it is told the client's pid.

    It has no pipe of the client in its hands but stdin: a waiter that is left behind must not keep one open."""
    run = started(program, hook, *(['"$PPID"'] if client else []))
    judged = "c=0; " + of_primary(f"[ -r {quoted(program[1])} ] && {{ {run}; c=$?; }}") + "; cat"
    ring = f'[ "$c" = {constants.RING} ] && {{ echo {quoted(RUNG)} >&2; exit 2; }}'
    return f"{{ {judged}; }} >/dev/null 2>&1; {ring}; exit 0{MARK}"


def guard(program: Program, hook: str, agent: str) -> str:
    """A hook whose silence would be a hole: no answer is a no."""
    return strict(started(program, hook, quoted(agent)), hook_output.deny(GONE))


def request(program: Program, hook: str, agent: str) -> str:
    return strict(started(program, hook, quoted(agent)), hook_output.refuse(GONE))


def strict(run: str, no: str) -> str:
    """Only a program that ends well and has said something is believed; it has then read all of stdin, too."""
    judged = f"out=$({run}) || out=; case $out in '{{'*) ;; *) cat >/dev/null; out={quoted(no)};; esac"
    return f"{{ {judged}; }} 2>/dev/null; printf '%s\\n' \"$out\"; exit 0{MARK}"


def of_plugin(hook: str) -> str:
    """The same for the plugin, where `hooks/run` looks for the program. It may be half written by an update, and a
    shell that cannot read a script exits 2: so the line judges it as well."""
    run = of_primary(f"{in_tmux(hook)}[ -r {PLUGIN} ] && sh {PLUGIN} {hook}")
    return f"{{ {run}; cat >/dev/null; }} 2>/dev/null; exit 0{MARK}"


def bell_of_plugin(hook: str, *, client: bool = False) -> str:
    """Told by its words that it rings: 2 is also what a shell exits with that trips over the script."""
    run = f"sh {PLUGIN} {hook}" + (' "$PPID"' if client else "")
    said = "said=; " + of_primary(f"[ -r {PLUGIN} ] && said=$({run} 2>&1 >/dev/null)") + "; cat >/dev/null"
    ring = "case $said in '[ib] '*) printf '%s\\n' \"$said\" >&2; exit 2;; esac"
    return f"{{ {said}; }} 2>/dev/null; {ring}; exit 0{MARK}"


def is_ours(command: object) -> bool:
    """Both signs are asked for: what ends with our mark by chance stays the user's."""
    return isinstance(command, str) and command.endswith(MARK) and STUB in command


def hook_of(command: str) -> str:
    """Which hook a line of ours runs; '' when it cannot be told."""
    rest = command.rpartition(STUB)[2].lstrip("'").split()
    return rest[0].rstrip(";") if rest else ""
