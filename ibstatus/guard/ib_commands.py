"""What an agent may run of ib, and what it may do instead. Everything that is not allowed here is refused."""

EVERYBODY = frozenset(
    (
        "log", "ask", "send", "notify", "list", "tree", "look", "status", "diff", "info", "why", "wait", "questions",
        "trace", "events", "doctor",
    )
)  # fmt: skip
# On itself and what is below it; which agents these are, the command itself looks at.
MANAGERS = frozenset(("new-agent", "kill", "pause", "resume", "merge", "merge-check", "reassign"))
BOARD = frozenset(
    ("list", "ls", "show", "tree", "search", "claim", "note", "beat", "done", "fail", "release", "prompt", "watch")
)
# What Claude Code itself runs in an agent whose settings were written by hand. An agent only reaches its own by them.
HOOKS = frozenset(
    (
        "status", "session-start", "inject-status", "agent-status", "agent-path", "main-path", "permission-request",
        "intercept-task", "cwd-changed", "queue-changed",
    )
)  # fmt: skip
ALIASES = {"ls": "list", "new": "new-agent", "ack": "acknowledge"}
HELP = ("-h", "--help")
# In a repository that is not its own: nothing changes by these.
LOOKS = frozenset(("list", "tree", "status", "look", "diff", "info", "why", "doctor", "help"))
ELSEWHERE = f"An agent of another repository may only look around here (ib {', '.join(sorted(LOOKS))})"
BACK = 'go back into your own worktree; to ask for something there: ib ask "…"'
YOLO = "--yolo"

UNPROVEN = "Nothing proves which agent this is (IB_AGENT_TOKEN is not its token), so it cannot run ib {}"
ASK = "if it is needed, say what and why (ib send MANAGER …, without a manager ib ask …) and end with WAITING"
INSTEAD = {
    "acknowledge": "An agent cannot acknowledge: the user's Claude settles what agents say; go on, or end with WAITING",
    "answer": "An agent cannot answer for the user; to tell another agent something: ib send ID …",
    "messages": "An agent cannot read the messages for the user's Claude; its own arrive by themselves",
    "listen": "An agent cannot listen: messages reach it by themselves; to wait for one, end with WAITING",
    "watch": "An agent cannot watch, which needs a person at a terminal; use ib list or ib tree",
    "attach": "An agent cannot attach, which needs a person at a terminal; use ib list or ib status",
    "wake": "An agent cannot check what wakes the user's Claude; its own messages arrive by themselves",
    "init": f"An agent cannot set up its repository; {ASK}",
    "uninstall": f"An agent cannot uninstall ib; {ASK}",
    "config": f"An agent cannot see or change the configuration; {ASK}",
    "hooks": f"An agent cannot change hooks; {ASK}",
}


def refusal(words: list[str], manager: bool, yolo: bool = False, proven: bool = True) -> str:
    """Why this agent may not run `ib` with these words, as a sentence without its full stop; '' when it may."""
    if not words or words[0].startswith("-") or asks_for_help(words):
        return ""
    name = ALIASES.get(words[0], words[0])
    sub = words[1] if len(words) > 1 else ""
    if name in EVERYBODY or (name == "board" and sub in BOARD) or (name == "hooks" and sub in HOOKS):
        return ""
    if name == "watch" and words[1:] == ["--debug"]:
        return ""  # what the older tool let agents do
    if name in MANAGERS:
        return of_manager(name, words, manager, yolo) or ("" if proven else UNPROVEN.format(name))
    if name == "board":
        return f"An agent cannot run ib board {plain(sub)}; it has ib board {', '.join(sorted(BOARD))}"
    return INSTEAD.get(name) or f"An agent cannot run ib {plain(name)}; {ASK}"


def elsewhere(words: list[str]) -> str:
    """Why an agent may not run this in a repository of others; '' when it may."""
    fine = not words or words[0].startswith("-") or asks_for_help(words) or ALIASES.get(words[0], words[0]) in LOOKS
    return "" if fine or (words[0] == "hooks" and words[1:2] and words[1] in HOOKS) else ELSEWHERE


def asks_for_help(words: list[str]) -> bool:
    """Right behind the command's own words, where no option can take it for its value."""
    for word in words:
        if word.startswith("-"):
            return word in HELP
    return False


def of_manager(name: str, words: list[str], manager: bool, yolo: bool) -> str:
    if not manager:
        return f"A worker cannot run ib {name}; ask your manager: ib send MANAGER …, then end with WAITING"
    if not yolo and any(word.partition("=")[0] == YOLO for word in words):
        return f"Only an agent that runs with {YOLO} itself may give it to others; leave it out"
    return ""


def plain(name: str) -> str:
    """Foreign text in a sentence."""
    return "".join([char for char in name[:40] if char.isprintable()]) or "…"
