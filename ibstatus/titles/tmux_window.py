"""The title of a tmux window, by one process: `tmux source-file -`. The server itself merges what its panes say.

A session's pane has `@ib_pane_…`, its window what the loudest of its panes says. Two names, for a pane without an
option has its window's. A value of an option is data: tmux expands the format that names it, never what it holds.
Every line stands alone: of a pane that is gone the lines fail, and those of its window are done.
"""

import posix
import select
import time

from ibstatus.titles import glyphs as title_glyphs
from ibstatus.titles import machine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PATIENCE = 0.5
SIGKILL, SIGPIPE = 9, 13
FIELDS = machine.VALUES
WINDOWS = (
    "@ib_state", "@ib_state_since", "@agent_running", "@last_completed_time", "@ib_loudest", "@ib_next", "@ib_title",
)  # fmt: skip
OWN = ("@ib_asked", "@ib_name", "@ib_own_name", "@ib_own_auto")  # of a window that is renamed
IS_SEEN = "window_active_clients"  # of a window in several sessions, too

RESET = ("",) * len(FIELDS)


def shown(pane: str, window: str, values: "Sequence[str]", more: str = "") -> str:
    """Commands that give the pane these values (see FIELDS) and put its window right, and the one where it was last.
    They print the window's id and the state, which of an active session is asked of the server."""
    state, since, completed, running, rank, glyph, project = values
    lines = [option(pane, "since", since), option(pane, "completed", completed), option(pane, "running", running)]
    if state in machine.ACTIVE:
        lines += [focused(pane, "state", machine.ACTIVE), focused(pane, "rank", tuple(map(ranked, machine.ACTIVE)))]
    else:
        lines += [option(pane, "state", state), option(pane, "rank", rank)]
    lines += [option(pane, "glyph", glyph), option(pane, "project", project)]
    lines += [moved(pane, window), arranged(pane), more]
    return "\n".join([*lines, f"display-message -p -t {pane} '#{{window_id}} #{{@ib_pane_state}}'", ""])


def ended(pane: str, window: str) -> str:
    """Commands after which the pane says nothing more; a window without any other session is the user's again."""
    lines = [f"set-option -pqu -t {pane} @ib_pane_{field}" for field in FIELDS]
    return "\n".join([*lines, arranged(pane), arranged(window) if is_window(window) else "", ""])


def is_window(text: str) -> bool:
    return text[:1] == "@" and text[1:].isascii() and text[1:].isdigit()


def moved(pane: str, window: str) -> str:
    """The window where it was last is put right too, unless it is there still."""
    return when(pane, f"#{{!=:#{{window_id}},{window}}}", [arranged(window)]) if is_window(window) else ""


def option(pane: str, field: str, value: str) -> str:
    return f"set-option -p -t {pane} @ib_pane_{field} {quoted(value)}"


def focused(pane: str, field: str, either: "Sequence[str]") -> str:
    unseen, seen = either
    return f"set-option -pF -t {pane} @ib_pane_{field} '#{{?{IS_SEEN},{seen},{unseen}}}'"


def ranked(state: str) -> str:
    return str(machine.rank(state))


def quoted(text: str) -> str:
    """For tmux's own parser, which knows nothing special in single quotes."""
    return "'" + text.replace("'", "'\"'\"'") + "'"


def later(pane: str, seconds: float, command: str) -> str:
    """Start a program when so much time has passed, if the pane is there now.

    Not `run-shell -C`: it belongs to whoever is attached now, and what it was to do is lost when they detach."""
    line = quoted("exec /bin/sh -c " + quoted_for_shells(command).replace("#", "##"))
    return f"if-shell -F -t {pane} 1 {{ run-shell -b -d {max(seconds, 0.0):.3f} {line} }}"


def quoted_for_shells(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


# One window


def arranged(target: str) -> str:
    """Commands that make one window say what the loudest of its panes does; bare ones are left alone."""
    ours = "#{!=:#{@ib_own_auto},}"
    none = "#{==:#{@ib_loudest},}"
    fresh = both(both("#{!=:#{@ib_loudest},}", "#{==:#{@ib_own_auto},}"), "#{!=:#{@ib_rename},off}")
    over = both(ours, f"#{{||:{none},#{{==:#{{@ib_rename}},off}}}}")
    renamed = both(ours, both("#{!=:#{window_name},#{@ib_title}}", "#{?automatic-rename,0,1}"))
    return "\n".join(
        (
            f"set-option -wF -t {target} @ib_loudest '{loudest()}'",
            when(target, fresh, keeping(target)),
            when(target, renamed, [f"set-option -wF -t {target} @ib_name '{plain_name()}'"]),
            when(target, over, giving_back(target)),
            when(target, "#{@ib_loudest}", titling(target)),
            when(target, none, without(target, WINDOWS)),
        )
    )


def when(target: str, condition: str, lines: "Sequence[str]") -> str:
    return "\n".join([f"if-shell -F -t {target} '{condition}' {{", *lines, "}"])


def both(one: str, other: str) -> str:
    return f"#{{&&:{one},{other}}}"


def loudest() -> str:
    """The id of the first pane of the highest rank, which is the first word of all that have one; '' when none has."""
    ranks = range(len(machine.LOUDNESS), 0, -1)
    return (
        "#{s/ .*//:" + "".join(f"#{{P:#{{?#{{==:#{{@ib_pane_rank}},{rank}}},#{{pane_id}} ,}}}}" for rank in ranks) + "}"
    )


def of_loudest(text: str) -> str:
    return f"#{{P:#{{?#{{==:#{{pane_id}},#{{@ib_loudest}}}},{text},}}}}"


def keeping(target: str) -> "list[str]":
    """The name and automatic-rename from before us. Whether the latter is the window's own is found by trying to set it
    where it is not: 1 or 0 is the window's own, x is not."""
    ours = "#{==:#{automatic-rename},#{@ib_own_auto}}"
    return [
        f"set-option -wF -t {target} @ib_own_name '{unescaped('window_name')}'",
        f"set-option -wF -t {target} @ib_title '#{{window_name}}'",
        f"set-option -wF -t {target} @ib_own_auto '#{{automatic-rename}}'",
        f"if-shell -F -t {target} '#{{@ib_own_auto}}' "
        f"{{ set-option -woq -t {target} automatic-rename off }} "
        f"{{ set-option -woq -t {target} automatic-rename on }}",
        f"if-shell -F -t {target} '#{{?{ours},0,1}}' "
        f"{{ set-option -wqu -t {target} automatic-rename ; set-option -w -t {target} @ib_own_auto x }}",
    ]


def titling(target: str) -> "list[str]":
    name = "#{?#{!=:#{@ib_name},},#{@ib_name},#{@ib_pane_project}}"
    running = "#{?#{m:*1*,#{P:#{@ib_pane_running}}},true,false}"
    named = both("#{!=:#{@ib_own_auto},}", "#{automatic-rename}")
    return [
        f"set-option -wF -t {target} @ib_state '{of_loudest('#{@ib_pane_state}')}'",
        f"set-option -wF -t {target} @ib_state_since '{of_loudest('#{@ib_pane_since}')}'",
        f"set-option -wF -t {target} @last_completed_time '{of_loudest('#{@ib_pane_completed}')}'",
        f"set-option -wF -t {target} @agent_running '{running}'",
        f"set-option -wF -t {target} @ib_next '{of_loudest('#{@ib_pane_glyph}' + name)}'",
        f"if-shell -F -t {target} '{named}' {{ set-option -w -t {target} automatic-rename off }}",
        renaming(target),
        f"set-option -wF -t {target} @ib_title '#{{window_name}}'",
    ]


def renaming(target: str) -> str:
    """Only to another name: tmux keeps some characters as two, so what it was told last is asked as well."""
    same = both("#{==:#{@ib_next},#{@ib_asked}}", "#{==:#{window_name},#{@ib_title}}")
    new = both("#{!=:#{@ib_own_auto},}", f"#{{?{same},0,#{{!=:#{{@ib_next}},#{{window_name}}}}}}")
    rename = f"rename-window -t {target} '#{{@ib_next}}'"
    return f"if-shell -F -t {target} '{new}' {{ {rename} ; set-option -wF -t {target} @ib_asked '#{{@ib_next}}' }}"


def giving_back(target: str) -> "list[str]":
    """A name that the user has given meanwhile stays; so does automatic-rename when they have turned it on."""
    inherited = f"set-option -wqu -t {target} automatic-rename"
    own = f"set-option -wF -t {target} automatic-rename '#{{@ib_own_auto}}'"
    back = f"if-shell -F -t {target} '#{{==:#{{@ib_own_auto}},x}}' {{ {inherited} }} {{ {own} }}"
    return [
        f"set-option -wF -t {target} @ib_next '#{{?#{{!=:#{{@ib_name}},}},#{{@ib_name}},#{{@ib_own_name}}}}'",
        when(target, "#{?automatic-rename,0,1}", [renaming(target), when(target, "#{==:#{@ib_name},}", [back])]),
        *without(target, OWN),
    ]


def without(target: str, names: "Sequence[str]") -> "list[str]":
    return [f"set-option -wqu -t {target} {name}" for name in names]


def plain_name() -> str:
    """The window's name without glyphs of ours before it."""
    glyphs = {glyph for style in title_glyphs.GLYPHS.values() for glyph in style.values()}
    alternatives = "|".join(sorted((glyph.replace("[", "\\[").replace("]", "\\]") for glyph in glyphs), reverse=True))
    return f"#{{s/^({alternatives})+//:{unescaped('window_name')}}}"


def unescaped(name: str) -> str:
    """tmux keeps a name with a backslash before each backslash and before some dollars."""
    return f"#{{s/\\\\(\\\\|[$])/\\1/:{name}}}"


# The process


def run(socket: str, server: int, script: str, patience: float = PATIENCE) -> str | None:
    """What it prints, '' also when there is no such server. None when it did not answer in time, or is no tmux.

    `server`: its process. Another one that has the socket now has other panes by the same names."""
    read, write = posix.pipe()
    out, put = posix.pipe()
    pid = 0
    try:
        fill(write, f"%if '#{{==:#{{pid}},{server}}}'\n{script}%endif\n".encode("utf-8", "replace"))
        posix.close(write)
        write = -1
        pid = started(socket, read, put)
        posix.close(put)
        put = -1
        said = heard(out, patience)
        if said is not None:
            posix.waitpid(pid, 0)
            pid = 0
        return said
    except OSError:
        return None
    finally:
        if pid:
            end(pid)
        for fd in (read, write, out, put):
            if fd >= 0:
                posix.close(fd)


def fill(pipe: int, data: bytes) -> None:
    """Nobody reads yet; who has many pipes gets small ones."""
    posix.set_blocking(pipe, False)
    if posix.write(pipe, data) < len(data):
        raise OSError


def started(socket: str, stdin: int, stdout: int) -> int:
    null = (posix.POSIX_SPAWN_OPEN, 2, "/dev/null", posix.O_WRONLY, 0)
    pipes = [(posix.POSIX_SPAWN_DUP2, stdin, 0), (posix.POSIX_SPAWN_DUP2, stdout, 1), null]
    argv = ["tmux", "-u", "-S", socket, "source-file", "-"]
    return posix.posix_spawnp("tmux", argv, posix.environ, file_actions=pipes, setsigdef=[SIGPIPE])


def heard(fd: int, patience: float) -> str | None:
    """All that it says until it ends; None when that takes too long."""
    until = time.monotonic() + patience
    said = b""
    while True:
        ready = select.select([fd], [], [], max(until - time.monotonic(), 0.0))[0]
        data = posix.read(fd, 4096) if ready else None
        if not data:
            return None if data is None else said.decode("utf-8", "replace")
        said += data


def end(pid: int) -> None:
    """A client that hangs; its server is left alone."""
    try:
        posix.kill(pid, SIGKILL)
        posix.waitpid(pid, 0)
    except OSError:
        pass
