"""What is kept of an agent for people to read: its transcript as text, its work as a patch, its papers."""

import os

from ibstatus.agents import archive_store
from ibstatus.agents.undo import log
from ibstatus.claude import sessions
from ibstatus.project import agent_meta, operations, paths
from ibstatus.system import atomic, disk
from ibstatus.system.git import index, worktrees

SCREEN = "screen.txt"


def take_screen(op: operations.Operation) -> None:
    """What the terminal shows, while it is there: the only trace of a client that wrote no transcript."""
    path = f"{log.folder(op.place, str(op.facts['undo']))}/{SCREEN}"
    where = sessions.of(op.place, op.agent)
    pane = where.pane()
    shown = where.screen(pane, None) if pane is not None else None
    if shown and shown.strip() and not disk.exists(path):
        atomic.put(path, shown.encode("utf-8", "replace"))


def keep(op: operations.Operation) -> str:
    """The folder; '' when there is nothing of this agent to be read."""
    if not disk.exists(op.place.agent_dir(op.agent)) and not disk.exists(str(op.facts["archive"])):
        return ""
    transcript = transcript_of(op.place, op.agent)
    files = {os.path.basename(transcript): transcript} if transcript else {}
    texts = {"output.log": output(op, transcript), **patches(op)}
    return archive_store.keep(
        op.place, op.agent, str(op.facts["archive"]), {k: v for k, v in texts.items() if v}, files
    )


def transcript_of(place: paths.Place, agent: str) -> str:
    try:
        path = sessions.client_of(place, agent).transcript_of(place, agent)
    except Exception:  # whatever the client wrote there must not keep an agent from being removed
        return ""
    return path if path and os.path.isfile(path) else ""


def output(op: operations.Operation, transcript: str) -> bytes:
    if transcript:
        try:
            return sessions.client_of(op.place, op.agent).said(transcript).encode("utf-8", "replace")
        except Exception:
            pass
    try:
        return disk.read_file(f"{log.folder(op.place, str(op.facts['undo']))}/{SCREEN}")
    except OSError:
        return b""


def patches(op: operations.Operation) -> dict[str, bytes]:
    """Its commits as `git am` takes them, and what was never committed."""
    root, tip = op.place.git_folder, str(op.facts.get("tip") or "")
    if not tip:
        return {}
    base = base_of(op.place, op.agent, tip)
    plain = ("--binary", "--no-color", "--no-ext-diff", "--no-textconv")
    commits = index.asked(root, "format-patch", "--stdout", *plain, f"{base}..{tip}").out if base else b""
    repo = op.place.agent_dir(op.agent) + "/repo"
    loose = index.asked(repo, "diff", *plain, "HEAD").out if worktrees.admin_of(op.place.common, repo) else b""
    return {"branch.patch": commits, "uncommitted.patch": loose}


def base_of(place: paths.Place, agent: str, tip: str) -> str:
    written = agent_meta.read(place, agent).get("base_commit")
    if isinstance(written, str) and written and index.asked(place.git_folder, "cat-file", "-e", written).code == 0:
        return written
    return index.asked(place.git_folder, "merge-base", "HEAD", tip).line
