"""notify, send, acknowledge, log: the verbs that agents and hooks use all day. Hot: next to no imports."""

from ibstatus.errors import IbError, UsageError, quoted
from ibstatus.mail import messages, post, queue_lines
from ibstatus.model import constants
from ibstatus.project import home, identity, names, paths
from ibstatus.system import jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def writer_of(caller: identity.Caller) -> str:
    """Whose spool an event goes to."""
    return caller.name if caller.kind == identity.AGENT else "cli"


def text_of(parts: "list[str] | tuple[str, ...]") -> str:
    """Several arguments are one text, as `echo` joins them."""
    text = jsonl.clean(" ".join(parts))
    if not parts:
        raise UsageError("A message is required", hint='put it in quotes: "3 of 5 tests pass"')
    if not text.strip():
        raise UsageError("The message is empty", hint='say something: "3 of 5 tests pass"')
    if len(text.encode()) > constants.LONGEST_TEXT:
        raise UsageError(
            f"The message is longer than {constants.LONGEST_TEXT >> 10} KiB",
            hint="write it to a file and send its name",
        )
    return text


def claimed_sender(caller: identity.Caller, claimed: str) -> tuple[str, bool]:
    if claimed and not names.is_sender(claimed):
        raise UsageError(
            f"'{jsonl.clean(claimed)}' cannot be a sender's name", hint="use letters, digits, - and _, at most 40"
        )
    return identity.sender(caller, claimed)


def notify(
    place: paths.Place,
    caller: identity.Caller,
    parts: "list[str] | tuple[str, ...]",
    kind: str,
    claimed: str,
    now: float,
) -> "dict[str, Any]":
    """Put a notice into the queue and ring. Without a type it is `complete`, as seed 000 says."""
    kind = kind or constants.NOTICE_TYPES[0]
    if kind not in constants.NOTICE_TYPES:
        raise UsageError(f"unknown type: {jsonl.clean(kind)} (expected: {', '.join(constants.NOTICE_TYPES)})")
    sender, verified = claimed_sender(caller, claimed)
    text = text_of(parts)
    home.enter(place)
    return post.notify(place, writer_of(caller), kind, sender, verified, text, now)


def send_to_primary(
    place: paths.Place, caller: identity.Caller, parts: "list[str] | tuple[str, ...]", claimed: str, now: float
) -> messages.Sent:
    """A message for the user's Claude, kept until it is acknowledged."""
    sender, verified = claimed_sender(caller, claimed)
    kind, content = queue_lines.split(text_of(parts))
    if not content.strip():
        raise UsageError(
            "There is nothing after the prefix", hint='put the text behind it: ib send user-claude "? Which port?"'
        )
    home.enter(place)
    sent = messages.send(place, writer_of(caller), sender, verified, kind, content, now)
    log_sent(place, caller, constants.PRIMARY, content, now)
    return sent


def send_to_agent(
    place: paths.Place,
    caller: identity.Caller,
    to: str,
    parts: "list[str] | tuple[str, ...]",
    claimed: str,
    now: float,
) -> "dict[str, Any]":
    """A message into an agent's inbox, where it waits for one of the agent's hooks; an idle agent is woken for it.
    `state` says how that went, `delivered` that the hook has told it already."""
    from ibstatus.mail import inbox
    from ibstatus.project import agents

    sender, verified = spoken_for(place, caller, claimed)
    text = text_of(parts)
    home.look(place)
    agent = agents.resolve(place, to)
    item = inbox.put(place, writer_of(caller), agent, sender, verified, text, now)
    log_sent(place, caller, agent, text, now)
    return {"to": agent, "state": woken(place, agent), **item}


def spoken_for(place: paths.Place, caller: identity.Caller, claimed: str) -> tuple[str, bool]:
    """The sender. A manager may speak as one of the agents below it; every other claim is stored as one."""
    sender, verified = claimed_sender(caller, claimed)
    if caller.kind != identity.AGENT or not caller.proven or sender == caller.name:
        return sender, verified
    from ibstatus.project import authority
    from ibstatus.project.rules import authority as rule

    return sender, verified or caller.name in rule.above(sender, authority.managers(place))


def woken(place: paths.Place, agent: str) -> str:
    """What is stored is accepted, whatever becomes of the waking: the supervisor tries again."""
    from ibstatus.mail import wake_agent

    try:
        return wake_agent.rouse(place, agent).state
    except (OSError, IbError):
        return "unknown"


def log_sent(place: paths.Place, caller: identity.Caller, to: str, text: str, now: float) -> None:
    if caller.kind == identity.AGENT:
        from ibstatus.project import logs

        logs.write(place, caller.name, f"Sent message to {to}: {text}", now)


class Settled:
    """What acknowledging did: the ids that are settled now, those that nobody knows, and what there is to say."""

    __slots__ = ("missing", "notes", "settled")

    def __init__(self, settled: list[str], missing: list[str], notes: list[str]) -> None:
        self.settled = settled
        self.missing = missing
        self.notes = notes


def acknowledge(place: paths.Place, caller: identity.Caller, wanted: "list[str] | None", now: float) -> Settled:
    """Settle these messages and questions; None settles what existed when this began."""
    if caller.kind == identity.AGENT:
        raise IbError(
            "An agent cannot acknowledge: that is for the user's Claude or a person",
            hint=f"only if you are the user's Claude and have strayed in here: cd {quoted(place.root)}",
        )
    if not home.look(place):
        return Settled([], list(wanted or []), [])
    told, asked = (wanted, wanted) if wanted is not None else open_ids(place)
    writer = writer_of(caller)
    settled, note = messages.acknowledge(place, writer, caller.name, told, now)
    notes = [note]
    if any(item not in settled for item in asked):
        from ibstatus.mail import questions

        more, note = questions.acknowledge(place, writer, caller.name, asked, now)
        settled, notes = settled + more, [*notes, note]
    missing = [item for item in wanted or [] if item not in settled]
    return Settled(settled, missing, [note for note in notes if note])


def open_ids(place: paths.Place) -> tuple[list[str], list[str]]:
    """The messages and questions that are open now; both read before anything is changed or waited for."""
    from ibstatus.mail import questions

    told = [str(item.get("id")) for item in messages.open_ones(place).items]
    return told, [str(item.get("id")) for item in questions.pending(place)]


def log(
    place: paths.Place, caller: identity.Caller, parts: "list[str] | tuple[str, ...]", agent: str, now: float
) -> str:
    """A line in an agent's log. Returns the text."""
    from ibstatus.project import logs

    text = text_of(parts)
    if caller.kind == identity.AGENT and agent not in ("", caller.name):
        raise IbError(
            f"An agent writes only its own log, and this is {caller.name}",
            hint=f'ib send {quoted(jsonl.clean(agent))} "…"',
        )
    if not agent and caller.kind != identity.AGENT:
        raise UsageError("Whose log? This is not an agent's worktree", hint='name the agent: ib log --id ID "…"')
    home.look(place)
    if agent and agent != caller.name:
        from ibstatus.project import agents

        agent = agents.resolve(place, agent)
    if not logs.write(place, agent or caller.name, text, now):
        raise IbError(f"The log of {agent or caller.name} could not be written", hint="ib doctor")
    return text
