"""The session's transcript: one JSON object a line, in the client's form.

What a transcript says that the model was shown, so that a test can ask what an agent heard, in order.
"""

import json
import os
import time
import uuid
from collections.abc import Iterator
from typing import Any, NamedTuple

from ibstatus.testkit.fake_claude.settings import config_folder

Json = dict[str, Any]
VERSION = "2.1.326"
MODEL = "fake-claude"
NEWS = "The user sent a new message while you were working:\n"
NEWS_END = (
    "\n\nThis is how Claude Code surfaces messages the user sends mid-turn — within the running turn, often alongside "
    "the next tool result, rather than as a separate conversation turn. Address the message above as you continue "
    "this turn."
)


def folder_of(cwd: str) -> str:
    name = "".join([char if char.isascii() and char.isalnum() else "-" for char in cwd])
    return f"{config_folder()}/projects/{name}"


def find(cwd: str, session: str) -> str | None:
    """The transcript of a session of this folder, if there is one."""
    path = f"{folder_of(cwd)}/{session}.jsonl"
    return path if os.path.exists(path) else None


def stamp() -> str:
    now = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03}Z"


class Transcript:
    """Each line is one write to the end of the file; the file begins with the first of them."""

    def __init__(self, cwd: str, session: str, entrypoint: str) -> None:
        self.path = f"{folder_of(cwd)}/{session}.jsonl"
        self.facts: Json = {
            "userType": "external",
            "entrypoint": entrypoint,
            "cwd": cwd,
            "sessionId": session,
            "version": VERSION,
            "gitBranch": branch_of(cwd),
        }
        self.session = session
        self.parent: str | None = None
        self.file: int | None = None

    def write(self, line: Json) -> None:
        if self.file is None:
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            self.file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.write(self.file, json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")

    def entry(self, **line: object) -> str:
        own = str(uuid.uuid4())
        tail = {"uuid": own, "timestamp": stamp(), **self.facts}
        self.write({"parentUuid": self.parent, "isSidechain": False, **line, **tail})
        self.parent = own
        return own

    def take_back(self, parent: str | None) -> None:
        """What came after this entry was never said; a reader of the file is told."""
        self.parent = parent
        self.aside("last-prompt", leafUuid=parent)

    def aside(self, kind: str, **line: object) -> None:
        """A line that is no part of the conversation."""
        self.write({"type": kind, **line, "sessionId": self.session})

    def prompt(self, text: str, prompt_id: str, mode: str) -> None:
        message = {"role": "user", "content": text}
        origin = {"kind": "human"}
        self.entry(
            promptId=prompt_id,
            type="user",
            message=message,
            permissionMode=mode,
            origin=origin,
            promptSource="typed",
        )

    def user(self, text: str, prompt_id: str) -> None:
        self.entry(promptId=prompt_id, type="user", message={"role": "user", "content": text})

    def block(self, text: str, prompt_id: str) -> None:
        content = [{"type": "text", "text": text}]
        self.entry(promptId=prompt_id, type="user", message={"role": "user", "content": content})

    def assistant(self, block: Json, model: str) -> None:
        is_tool = block["type"] == "tool_use"
        message = {
            "id": f"msg_{uuid.uuid4().hex[:24]}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [block],
            "stop_reason": "tool_use" if is_tool else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        self.entry(message=message, type="assistant")

    def result(self, tool: str, text: str, is_error: bool, prompt_id: str, response: object) -> None:
        block = {
            "type": "tool_result",
            "content": text,
            **({"is_error": True} if is_error else {}),
            "tool_use_id": tool,
        }
        self.entry(
            promptId=prompt_id, type="user", message={"role": "user", "content": [block]}, toolUseResult=response
        )

    def attachment(self, kind: str, rendered: str, **facts: object) -> None:
        """What the model is shown beside the conversation."""
        shown = [{"content": f"<system-reminder>\n{rendered}\n</system-reminder>"}]
        self.entry(attachment={"type": kind, **facts}, type="attachment", rendered=shown, renderedRole="system")

    def context(self, name: str, text: str) -> None:
        rendered = f"{name} hook additional context: {text}"
        self.attachment(
            "hook_additional_context", rendered, content=[text], hookName=name, hookEvent=name.split(":")[0]
        )

    def queued(self, text: str) -> None:
        self.attachment(
            "queued_command", NEWS + text + NEWS_END, prompt=text, commandMode="prompt", origin={"kind": "human"}
        )


def branch_of(cwd: str) -> str:
    """Read from git's files; '' outside of a repository or with a detached HEAD."""
    git = f"{cwd}/.git"
    try:
        if os.path.isfile(git):
            with open(git, encoding="utf-8", errors="surrogateescape") as file:
                git = os.path.join(cwd, file.read().partition("gitdir:")[2].strip())
        with open(f"{git}/HEAD", encoding="utf-8", errors="replace") as file:
            return file.read().partition("refs/heads/")[2].strip()
    except OSError:
        return ""


class Heard(NamedTuple):
    """`how`: prompt, context or tool."""

    how: str
    text: str


def lines(path: str) -> Iterator[Json]:
    """A torn or foreign line is passed over."""
    with open(path, encoding="utf-8", errors="replace") as file:
        for text in file:
            try:
                line = json.loads(text)
            except ValueError:
                continue
            if isinstance(line, dict):
                yield line


def heard(path: str) -> Iterator[Heard]:
    """What the model was shown, in order: prompts (those typed in the middle of a turn too), context, tool results."""
    entries: dict[str, Json] = {}
    leaf: str | None = None
    for line in lines(path):
        if line.get("uuid"):
            leaf = str(line["uuid"])
            entries[leaf] = line
        elif line.get("type") == "last-prompt":
            leaf = line.get("leafUuid")
    for line in chain(entries, leaf):
        if line.get("type") == "user":
            yield from of_message(line.get("message") or {})
        elif line.get("type") == "attachment" and line.get("rendered"):
            fact = line.get("attachment") or {}
            if fact.get("type") == "queued_command":
                yield Heard("prompt", str(fact.get("prompt", "")))
            else:
                yield Heard("context", unwrapped(line["rendered"]))


def chain(entries: dict[str, Json], leaf: str | None) -> list[Json]:
    """From the first entry to the leaf: what was taken back hangs on another branch."""
    found: list[Json] = []
    while leaf in entries:
        line = entries.pop(leaf)
        found.append(line)
        leaf = line.get("parentUuid")
    return found[::-1]


def of_message(message: Json) -> Iterator[Heard]:
    content = message.get("content")
    if isinstance(content, str):
        yield Heard("prompt", content)
        return
    for block in content if isinstance(content, list) else []:
        if block.get("type") == "tool_result":
            yield Heard("tool", str(block.get("content", "")))
        elif block.get("type") == "text":
            yield Heard("prompt", str(block.get("text", "")))


def unwrapped(rendered: list[Json]) -> str:
    text = "\n".join(str(part.get("content", "")) for part in rendered)
    return text.removeprefix("<system-reminder>\n").removesuffix("\n</system-reminder>")
