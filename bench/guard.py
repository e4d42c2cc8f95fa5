"""What the agents' guard costs at every tool call, against an empty isolated python."""

import json
import os
from pathlib import Path

from bench.ground import Row, percentile, repository
from bench.hot import available, compiled
from bench.inject import ISOLATED, MANY, PAYLOAD, ROUNDS, counted, hook, publish, seconds
from ibstatus.project import paths, tokens

BAR = 1.6
NAME = "w1"
LINE = "git status --short | head -5"
ALLOW = [f"Bash(git {verb}:*)" for verb in ("status", "add", "commit", "diff", "log", "show", "merge", "rebase")]


def agent(place: paths.Place) -> str:
    """An agent with the rules that all have; its worktree."""
    folder = Path(place.agent_dir(NAME))
    (folder / "repo/src").mkdir(parents=True)
    tokens.make(place.token(NAME))
    (folder / "meta.json").write_text(json.dumps({"id": NAME, "worker": True}))
    allow = [
        "Read",
        "Write",
        "Edit",
        "Bash(ib:*)",
        *ALLOW,
        *(f"Bash({name}:*)" for name in ("ls", "head", "tail", "cat")),
    ]
    permissions = {"allow": allow, "deny": ["EnterPlanMode", "Bash(git push:*)"]}
    (folder / "settings.local.json").write_text(json.dumps({"permissions": permissions}))
    return str(folder / "repo")


def payload(cwd: str, tool: str, given: dict[str, str]) -> bytes:
    value = {
        "session_id": "b7a1f9c2",
        "transcript_path": "/home/user/.claude/projects/x/b7a1f9c2.jsonl",
        "cwd": cwd,
        "prompt_id": "p1",
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": given,
        "tool_use_id": "toolu_01",
    }
    return json.dumps(value).encode()


def measure(rounds: int = ROUNDS) -> list[Row]:
    if not available():
        return [Row("guard", "not measured: valgrind is not installed", f"≤ {BAR} ×", False)]
    compiled()
    guard = hook("agent-path", NAME)
    with repository() as place:
        tree = agent(place)
        session = {
            "CLAUDE_PROJECT_DIR": tree,
            "IB_AGENT_ID": NAME,
            "IB_AGENT_TOKEN": tokens.of(place.token(NAME)).decode(),
        }
        os.environ.update(session)
        floor = counted([*ISOLATED, "-c", "pass"], b"", tree)
        read = payload(tree, "Read", {"file_path": tree + "/src/app.ts"})
        bash = payload(tree, "Bash", {"command": LINE, "description": "status"})
        few = {"`Read`": counted(guard, read, tree) / floor, "`Bash` with a pipe": counted(guard, bash, tree) / floor}
        publish(place, MANY)
        growth = counted(guard, bash, tree) / floor / few["`Bash` with a pipe"]
        rows = [Row(f"guard, {name}", f"{cost:.2f} ×", f"≤ {BAR} ×", cost <= BAR) for name, cost in few.items()]
        rows.append(Row(f"… with {MANY:,} agents, of none", f"{growth:.2f} ×", "≤ 1.3 ×", growth <= 1.3))
        large = {
            "`Write`": (write(tree, 0), write(tree, PAYLOAD)),
            "`Bash` with a here-document": (document(tree, 10), document(tree, PAYLOAD)),
        }
        for name, (short, long) in large.items():
            pairs = [(seconds(guard, short), seconds(guard, long)) for _ in range(rounds)]
            ratio = percentile([pair[1] for pair in pairs], 0.5) / percentile([pair[0] for pair in pairs], 0.5)
            rows.append(Row(f"… {name} of 126 KB, in time", f"{ratio:.2f} ×", "≤ 1.1 ×", ratio <= 1.1))
    return rows


def write(tree: str, length: int) -> bytes:
    return payload(tree, "Write", {"file_path": tree + "/src/app.ts", "content": "x" * length})


def document(tree: str, length: int) -> bytes:
    text = "some text, 'quoted' and \"more\"\n" * (length // 31 + 1)
    return payload(tree, "Bash", {"command": f"cat > src/app.ts <<'EOF'\n{text}EOF"})
