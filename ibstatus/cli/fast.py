"""The hot commands in their plain shape, from argv to exit code without click.

The plain shape of the hot commands, recognised without click. What is not plain is None, and click decides.

Whatever is recognised here click reads in the same way (tests/cli/test_plain.py holds the two together).
"""

import posix
import time

from ibstatus.errors import IbError, refused, told, visible
from ibstatus.mail import send as say
from ibstatus.model import constants
from ibstatus.project import ensure_supervisor, identity, paths
from ibstatus.system import disk

HOT = frozenset(("notify", "send", "acknowledge", "ack", "log"))
TAKES_VALUE = {
    "notify": {"--from": "claimed", "--type": "kind"},
    "send": {"--from": "claimed"},
    "log": {"--id": "agent"},
}
MAY_BE_EMPTY = "claimed"  # hooks call what has it, with whatever they have; of any other click says that it is empty
SWITCHES = {"log": {"-q": "quiet", "--quiet": "quiet"}}


class Call:
    """A command with its options and its words."""

    __slots__ = ("name", "options", "words")

    def __init__(self, name: str, options: dict[str, str], words: list[str]) -> None:
        self.name = name
        self.options = options
        self.words = words


def recognised(argv: list[str]) -> Call | None:
    name = argv[0] if argv else ""
    if name not in HOT:
        return None
    name = "acknowledge" if name == "ack" else name
    valued, switches = TAKES_VALUE.get(name, {}), SWITCHES.get(name, {})
    options: dict[str, str] = {}
    words: list[str] = []
    at = 1
    while at < len(argv):
        word = argv[at]
        if word in valued and at + 1 < len(argv) and not argv[at + 1].startswith("-"):
            at += 1
            if not argv[at].strip() and valued[word] != MAY_BE_EMPTY:
                return None
            options[valued[word]] = argv[at]
        elif word in switches:
            options[switches[word]] = "yes"
        elif word.startswith("-"):
            return None
        else:
            words.append(word)
        at += 1
    enough = 2 if name == "send" else 1
    return Call(name, options, words) if len(words) >= enough else None


def run(argv: list[str]) -> int | None:
    """The exit code; None when this is not the plain shape and click must read it."""
    call = recognised(argv)
    if call is None or (call.name == "send" and call.words[0] not in constants.TO_PRIMARY):
        return None
    try:
        return DO[call.name](call)
    except IbError as error:
        return fail(error)
    except OSError as error:
        return fail(refused(f"finish ib {call.name}", error))
    except KeyboardInterrupt:
        return 130
    except Exception:
        from ibstatus.cli import output

        return output.crashed(argv)


def fail(error: IbError) -> int:
    put(2, told(error))
    return error.code


def put(fd: int, text: str) -> None:
    """What was done stands, whether or not anybody is left to read that it was."""
    try:
        disk.write_all(fd, text.encode("utf-8", "replace"))
    except OSError:
        pass


def caller_at(place: paths.Place) -> identity.Caller:
    session = posix.environ.get(b"CLAUDE_CODE_SESSION_ID", b"")
    terminal = not session and (posix.isatty(0) or posix.isatty(2))
    if place.stranger and not (terminal and b"CLAUDECODE" not in posix.environ):
        from ibstatus.guard import ib_commands

        raise IbError(ib_commands.ELSEWHERE, hint=ib_commands.BACK)
    return identity.caller_of(place.agent, session.decode("utf-8", "surrogateescape"), terminal, place.proven)


def notify(call: Call) -> int:
    place = paths.here()
    say.notify(
        place, caller_at(place), call.words, call.options.get("kind", ""), call.options.get("claimed", ""), time.time()
    )
    return 0


def send(call: Call) -> int:
    place = paths.here()
    sent = say.send_to_primary(place, caller_at(place), call.words[1:], call.options.get("claimed", ""), time.time())
    if sent.note:
        put(2, f"Warning: {sent.note}.\n")
    put(1, f"Queued message for user's Claude: {sent.item['type']} {visible(sent.item['id'])}\n")
    ensure_supervisor.keep_watched(place)
    return 0


def acknowledge(call: Call) -> int:
    place = paths.here()
    done = say.acknowledge(place, caller_at(place), call.words, time.time())
    code = report_settled(done)
    ensure_supervisor.keep_watched(place)
    return code


def report_settled(done: say.Settled) -> int:
    for note in done.notes:
        put(2, f"Warning: {note}.\n")
    for item in done.settled:
        put(1, f"Acknowledged {'question' if item.startswith('q') else 'message'}: {visible(item)}\n")
    if done.missing:
        hint = (
            "notices (n-…) are not acknowledged"
            if done.missing[0].startswith("n-")
            else "ib messages and ib questions list what is open; ib trace ID tells what became of one"
        )
        return fail(IbError(f"There is nothing open with the id {', '.join(done.missing)}", hint=hint))
    return 0


def log(call: Call) -> int:
    place = paths.here()
    text = say.log(place, caller_at(place), call.words, call.options.get("agent", ""), time.time())
    if "quiet" not in call.options:
        put(1, text + "\n")
    return 0


DO = {"notify": notify, "send": send, "acknowledge": acknowledge, "log": log}
