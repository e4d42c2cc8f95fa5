"""UserPromptSubmit and PostToolBatch: what changed since this session last saw it. The one voice of a session."""

from ibstatus.mail import cursors, delivery, fleet_seen, session_reader, wake_state
from ibstatus.system.disk import environ

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ibstatus.hooks.entry import Event
    from ibstatus.project.paths import Place

KINDS = {"UserPromptSubmit": delivery.PROMPT, "PostToolBatch": delivery.BATCH, "PostToolUse": delivery.BATCH}
WAKE = "<task-notification>"
OF_WAKE = " wake"  # behind the id of a turn that no person began; ids hold no blanks
UNATTENDED = ("sdk-cli",)  # `claude -p`: nobody types there, and nothing can wake it
WARN_EVERY = 600
WARNING = """\
[ib] WARNING: Notification listener is not running. Restart it now:
Bash(command: "ib listen", run_in_background: true)"""


def run(event: "Event") -> int:
    kind = KINDS.get(event.name)
    if event.place is None or kind is None or event.of_subagent:
        return 0
    if event.agent:
        hand_over(event, event.place, kind)
    elif event.session:
        tell(event, event.place, kind)
    return 0


def hand_over(event: "Event", place: "Place", kind: str) -> None:
    """An agent: what lies in its inbox."""
    if is_queued(event, place, kind):
        return
    with session_reader.hear_inbox(place, event.agent, kind, event.prompt, fitting_letters) as offer:
        if offer.told.values:
            from ibstatus.claude import hook_output
            from ibstatus.hooks import news

            event.say(hook_output.context(event.name, news.text(event, offer.told)))
        offer.settle()
    from ibstatus.claude import hook_state

    began = kind == delivery.PROMPT
    hook_state.working(place, event.agent, event.session, event.now, began=began, mono=event.mono)


def is_queued(event: "Event", place: "Place", kind: str) -> bool:
    """Was it typed while a turn runs? The user may take it back, and what it was told would be gone."""
    prompt = cursors.word(event.prompt)
    running = wake_state.turn(place, event.session).partition(" ")[0] if prompt and event.session else ""
    if kind == delivery.PROMPT and prompt and prompt == running:
        return True
    if prompt and event.session and prompt != running:
        wake_state.set_turn(place, event.session, prompt + (OF_WAKE if event.text("prompt").startswith(WAKE) else ""))
    return False


def tell(event: "Event", place: "Place", kind: str) -> None:
    wake = event.text("prompt").startswith(WAKE)
    after_wake = wake_state.turn(place, event.session).endswith(OF_WAKE)
    if is_queued(event, place, kind):
        return
    with session_reader.hear(place, event.session, kind, event.prompt, fitting, joins=wake and after_wake) as offer:
        told = offer.told
        mark = fleet_seen.mark(place)
        warning = warned(event, place)
        if told.values or warning or (mark and not fleet_seen.is_current(place, event.session, mark)):
            from ibstatus.hooks import news

            found = news.of(event, place, kind, told, mark, warning)
            if found.text:
                event.say(found.answer(event.name))
            offer.settle()
            found.keep()
        else:
            offer.settle()  # lines that are none were claimed as well
    follow(event, place, kind, wake)


def fitting(data: bytes, at: int, least: int) -> int:
    from ibstatus.mail.rules import primary_text

    return primary_text.fitting(data, at, least)


def fitting_letters(data: bytes, at: int, least: int) -> int:
    from ibstatus.mail.rules import inbox_text

    return inbox_text.fitting(data, at, least)


def follow(event: "Event", place: "Place", kind: str, wake: bool) -> None:
    """What is to be done once the answer is out."""
    from ibstatus.claude import hook_state

    hook_state.working(place, "", event.session, event.now, began=kind == delivery.PROMPT)
    if kind == delivery.PROMPT:
        if not wake and environ("CLAUDE_CODE_ENTRYPOINT") not in UNATTENDED:
            wake_state.set_primary(place, event.session)
        event.starts_supervisor()


def warned(event: "Event", place: "Place") -> str:
    """Once when nothing would wake this session though it has agents, and again every ten minutes."""
    known = wake_state.read(place, event.session)
    if known.watched:
        return ""
    warned_at = int(event.now)
    if wake_state.armed(place, event.session):
        warned_at = 0
    elif 0 <= event.now - known.warned_at < WARN_EVERY or not has_agents(place):
        return ""
    if warned_at != known.warned_at:
        wake_state.write(
            place, event.session, wake_state.Rungs(0, known.rung_for, known.rung_at, warned_at, known.repeats)
        )
    return WARNING if warned_at else ""


def has_agents(place: "Place") -> bool:
    from ibstatus.project import agents
    from ibstatus.system import disk

    try:
        return any(agents.exists(place, name) for name in disk.listdir(place.home + "/agents"))
    except OSError:
        return False
