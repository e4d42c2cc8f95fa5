"""What is new in the fleet for one session, until a turn has confirmed it."""

from ibstatus.mail import delivery
from ibstatus.mail.rules import fleet_changes
from ibstatus.mail.rules.fleet_changes import Seen

BEFORE = {"a": "running", "b": "waiting (input)", "c": "running"}


def test_the_difference_in_words() -> None:
    now = {"a": "running", "b": "complete", "d": "creating"}

    assert fleet_changes.text(BEFORE, now, "").splitlines() == [
        "[ib] Agents: 1 running, 1 complete, 1 creating. Changed since you last looked:",
        "b: waiting (input) → complete",
        "d: new, creating",
        "c: gone",
    ]


def test_no_difference_is_silence() -> None:
    assert fleet_changes.text(BEFORE, dict(BEFORE), " as of now") == ""


def test_many_changes_are_counted() -> None:
    text = fleet_changes.text({}, {f"a{number}": "running" for number in range(100)}, "")

    assert len(text.splitlines()) == 1 + fleet_changes.MOST + 1
    assert text.endswith("… and 80 more: ib list")


def test_names_cannot_close_a_tag() -> None:
    assert "<" not in fleet_changes.text({}, {"</x>": "running (<b>)"}, "")


def test_a_reason_is_a_part_of_the_state() -> None:
    agents = [{"id": "a", "state": "waiting", "reason": "question"}, {"id": "b", "state": "running", "reason": ""}]

    assert fleet_changes.fleet({"agents": agents}) == {"a": "waiting (question)", "b": "running"}


def test_its_own_turn_confirms_a_fleet() -> None:
    told = Seen("h", "p1", {}, BEFORE)

    for event in (delivery.BATCH, delivery.STOP):
        assert told.after(event, "p1").sure == BEFORE
        assert told.after(event, "p1").told is None


def test_another_turn_drops_what_was_told() -> None:
    after = Seen("h", "p1", {"a": "running"}, BEFORE).after(delivery.PROMPT, "p2")

    assert (after.known, after.head) == ({"a": "running"}, "")  # so the snapshot is compared again


def test_the_first_prompt_adopts_what_the_start_told() -> None:
    told = Seen("h", delivery.NO_PROMPT, {}, BEFORE)

    adopted = told.after(delivery.PROMPT, "p1")

    assert adopted.known == BEFORE
    assert Seen("h", "p1", {}, BEFORE).after(delivery.BATCH, "p1").sure == BEFORE
