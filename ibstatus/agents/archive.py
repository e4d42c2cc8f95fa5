"""What is kept of an agent for people to read: its transcript as text, its work as a patch, its papers.

.ittybitty/archive/<time>-<agent>/: what people may want to read of an agent that is gone.
"""

import os
import shutil
import time

from ibstatus.agents.undo import log
from ibstatus.claude import sessions
from ibstatus.project import agent_meta, names, operations, paths
from ibstatus.system import atomic, disk, folders
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
    return write_archive(op.place, op.agent, str(op.facts["archive"]), {k: v for k, v in texts.items() if v}, files)


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


AS_THEY_ARE = ("prompt.txt", "agent.log", "meta.json", "settings.local.json", "start.sh")
LOGS = "debug-logs"
MOST_LOGS = 20


def name_for(place: paths.Place, agent: str, now: float) -> str:
    """The folder that it will be; nothing is made yet."""
    stem = f"{place.home}/archive/{time.strftime('%Y%m%d-%H%M%S', time.localtime(now))}-{names.in_id(agent)}"
    number, path = 1, stem
    while folders.is_there(path):
        number += 1
        path = f"{stem}.{number}"  # no id holds a dot
    return path


def write_archive(place: paths.Place, agent: str, path: str, texts: dict[str, bytes], files: dict[str, str]) -> str:
    """Copy what is there, whole or not at all; once more is fine. Returns the folder.

    `texts`: what is written as it is given, by name; `files`: what is copied from elsewhere."""
    if folders.is_there(path):
        return path
    part = f"{place.home}/archive/.{path.rpartition('/')[2]}.ib-tmp"
    folders.remove(part)
    disk.make_dirs(part)
    home = place.agent_dir(agent)
    for leaf in AS_THEY_ARE:
        copy(f"{home}/{leaf}", f"{part}/{leaf}")
    for leaf, source in files.items():
        copy(source, f"{part}/{leaf}")
    for leaf, data in texts.items():
        put(f"{part}/{leaf}", data)
    keep_logs(f"{home}/{LOGS}", f"{part}/{LOGS}")
    target = folders.free_name(path)
    disk.rename(part, target)
    atomic.sync_folder(place.home + "/archive")
    return target


def copy(source: str, target: str) -> None:
    """A file that is there, and no link; the clients' own files may grow meanwhile."""
    try:
        if not disk.is_file(disk.lstat(source)):
            return
        shutil.copyfile(source, target)
        sync(target)
    except (FileNotFoundError, PermissionError):
        return


def put(target: str, data: bytes) -> None:
    fd = disk.open(target, disk.O_WRONLY | disk.O_CREAT | disk.O_EXCL | disk.O_CLOEXEC, 0o600)
    try:
        disk.write_all(fd, data)
        disk.fsync(fd)
    finally:
        disk.close(fd)


def sync(path: str) -> None:
    fd = disk.open(path, disk.O_RDONLY | disk.O_CLOEXEC)
    try:
        disk.fsync(fd)
    finally:
        disk.close(fd)


def keep_logs(source: str, target: str) -> None:
    """The newest of them."""
    try:
        leaves = [(disk.lstat(f"{source}/{leaf}").st_mtime, leaf) for leaf in disk.listdir(source)]
    except OSError:
        return
    disk.make_dirs(target)
    for _, leaf in sorted(leaves)[-MOST_LOGS:]:
        copy(f"{source}/{leaf}", f"{target}/{leaf}")


def expired(place: paths.Place, now: float, days: float) -> list[str]:
    """Folders older than this, by what their name says."""
    limit = time.strftime("%Y%m%d-%H%M%S", time.localtime(now - days * 86400))
    try:
        leaves = disk.listdir(place.home + "/archive")
    except OSError:
        return []
    return sorted(leaf for leaf in leaves if leaf[:8].isdigit() and leaf[8:9] == "-" and leaf[:15] < limit)
