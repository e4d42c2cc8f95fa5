"""Who is calling, and under which name."""

import pytest

from ibstatus.project import identity


@pytest.mark.parametrize(
    ("agent", "session", "terminal", "kind", "name"),
    [
        ("a", "", False, identity.AGENT, "a"),
        ("a", "s", True, identity.AGENT, "a"),
        ("", "s", True, identity.PRIMARY, "user-claude"),
        ("", "s", False, identity.PRIMARY, "user-claude"),
        ("", "", True, identity.PERSON, "user"),
        ("", "", False, identity.UNKNOWN, "unknown"),
    ],
)
def test_caller_of(agent: str, session: str, terminal: bool, kind: str, name: str) -> None:
    caller = identity.caller_of(agent, session, terminal)
    assert (caller.kind, caller.name) == (kind, name)
    assert caller.session == session or not session


def test_another_name_is_a_claim() -> None:
    caller = identity.caller_of("a", "", False)
    assert identity.sender(caller, "") == ("a", True)
    assert identity.sender(caller, "a") == ("a", True)
    assert identity.sender(caller, "b") == ("b", False)
