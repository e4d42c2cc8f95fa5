"""SessionStart: who this session is and how things stand; for the primary also what it is to watch, and its news."""

import ibstatus
from ibstatus.claude import hook_output, hook_state
from ibstatus.hooks.rules import instructions, session_overview
from ibstatus.mail import (
    cleanup,
    delivery,
    fleet_seen,
    messages,
    questions,
    queue,
    queue_lines,
    session_reader,
    wake_state,
)
from ibstatus.mail.rules import fleet_changes, primary_text
from ibstatus.project import agent_meta, agents, config, paths, roles
from ibstatus.system import disk, timestamps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.hooks.entry import Event
    from ibstatus.project.settings import Settings

STALE = 3  # update intervals without a look of the supervisor
LOST = ("compact", "clear")  # the prompt file, with the project's own instructions, is no longer in the context
BRANCH = b"ref: refs/heads/"


def run(event: "Event") -> int:
    place = event.place
    if place is None or event.name != "SessionStart" or event.of_subagent:
        return 0
    if event.agent:
        event.say(hook_output.context(event.name, instructions.of_agent(*told_agent(event, place))))
    elif event.session:
        tell_primary(event, place)
    hook_state.note(place, event.agent, event.session, event.name, event.body or {}, event.now, event.mono)
    event.starts_supervisor()
    return 0


def told_agent(event: "Event", place: paths.Place) -> "tuple[instructions.Agent, list[tuple[str, str]]]":
    record = agent_meta.record_of(place, event.agent)
    meta = record.meta if record is not None else {}
    role = roles.role_of(event.agent, meta)
    manager = agents.living_manager(place, event.agent)
    base = meta.get("base")
    parent = "agent/" + manager if manager else base if isinstance(base, str) and base else branch(place)
    folder = place.agent_dir(event.agent)
    guarded = disk.exists(folder + "/settings.local.json")
    apart = meta.get("worktree") is not False
    worktree = folder + "/repo" if apart else place.root
    task = meta.get("task")
    id = task.get("id") if isinstance(task, dict) else ""
    agent = instructions.Agent(
        event.agent, role, manager, parent, worktree, guarded, apart, id if isinstance(id, str) else ""
    )
    if event.text("source") not in LOST:
        return agent, []
    from ibstatus.agents import prompts

    special = meta.get("role")
    return agent, prompts.of(place, role, *([special] if isinstance(special, str) and special != role else []))


def branch(place: paths.Place) -> str:
    """What the main checkout has checked out; '' when that is no branch."""
    try:
        head = disk.read_file(place.common + "/HEAD").strip()
    except OSError:
        return ""
    name = head.removeprefix(BRANCH).decode("utf-8", "replace")
    return name if head.startswith(BRANCH) and name != ".invalid" else ""


class Look:
    """How things stand. `fleet` is None where the user does not want it told; `mark`: of which snapshot it is."""

    __slots__ = ("fleet", "mark", "messages", "questions")

    def __init__(self, event: "Event", place: paths.Place, settings: "Settings", told: queue_lines.Told) -> None:
        """What stands among the news already is not told a second time."""
        ids = {value["id"] for value in told.values}
        self.questions = [item for item in questions.pending(place) if item.get("id") not in ids]
        self.messages = [item for item in messages.open_ones(place).items if item.get("id") not in ids]
        self.mark = fleet_seen.mark(place)
        self.fleet = fleet_of(event, place, settings) if settings.value("hooks.injectStatus") else None


def fleet_of(event: "Event", place: paths.Place, settings: "Settings") -> session_overview.Fleet:
    """As the supervisor published it, and by their folders those that it does not know yet."""
    there = agents.all_ids(place)
    found = fleet_seen.snapshot(place, ibstatus.__version__)
    if found is None:
        return session_overview.Fleet([], there, "")
    snapshot, at = found
    known = [agent for agent in snapshot["agents"] if agent.get("id") in there]
    names = {agent["id"] for agent in known}
    fresh = -1 < event.now - at < STALE * settings.value("status_node.update_interval")
    as_of = "" if fresh else f" as of {timestamps.utc(at)}"
    return session_overview.Fleet(known, [name for name in there if name not in names], as_of)


def tell_primary(event: "Event", place: paths.Place) -> None:
    """One answer: the role, how things stand, the news, and the queue to be watched."""
    settings = config.load(place)
    if not disk.exists(place.queue):
        queue.begin(place)
    with session_reader.hear(place, event.session, delivery.START, "", primary_text.fitting) as offer:
        look = Look(event, place, settings, offer.told)
        event.say(answer(event, place, settings, offer.told, look))
        offer.settle()
    wake_state.set_watched(place, event.session, event.now)
    if look.fleet is not None and look.mark:
        before = fleet_seen.load(place, event.session).after(delivery.START, "")
        now = fleet_changes.fleet({"agents": look.fleet.agents})
        fleet_seen.save(place, event.session, fleet_changes.Seen(look.mark, delivery.NO_PROMPT, before.sure, now))
    cleanup.sweep(place, event.now)


def answer(event: "Event", place: paths.Place, settings: "Settings", told: queue_lines.Told, look: Look) -> str:
    role, short = instructions.of_primary(), instructions.of_primary(short=True)
    room = primary_text.LONGEST - 4
    news = session_overview.shortened(told, room - primary_text.size(short))
    status = session_overview.text(
        look.fleet, look.questions, look.messages, room - primary_text.size(news) - primary_text.size(short), event.now
    )
    if primary_text.size(role) + primary_text.size(news) + primary_text.size(status) > room or stands_in_claude_md(
        place
    ):
        role = short
    text = "\n\n".join(part for part in (role, status, news) if part)
    output = {"hookEventName": event.name, "additionalContext": text, "watchPaths": [place.queue]}
    return hook_output.form(output, visible(settings, told, look))


def stands_in_claude_md(place: paths.Place) -> bool:
    """The client has read the whole text there already."""
    try:
        return b"\n<ittybitty>" in b"\n" + disk.read_file(place.root + "/CLAUDE.md")
    except OSError:
        return False


def visible(settings: "Settings", told: queue_lines.Told, look: Look) -> str:
    """For the user: how many, and who has written."""
    if not settings.value("hooks.statusVisible"):
        return ""
    from ibstatus.hooks import news

    known = look.fleet.agents if look.fleet is not None else []
    fleet = [f"Agents: {fleet_changes.summary(fleet_changes.fleet({'agents': known}))}"] if known else []
    said = "; ".join(fleet + news.senders(told))
    return f"[ib] {said}" if said else ""
