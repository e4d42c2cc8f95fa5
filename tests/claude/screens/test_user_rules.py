"""Rules of the user that take long are switched off, whatever a regex of theirs makes of a screen."""

import threading
import time
from pathlib import Path

import pytest

from ibstatus.claude.screens import user_rules
from ibstatus.project import paths
from tests.conftest import place_in

SLOW = "[[rule]]\nname = 'slow'\nstate = 'stopped'\nmatch = '(x+x+)+y'\n\n"
FINE = "[[rule]]\nname = 'fine'\nstate = 'waiting'\nmatch = 'here$'\n"
SCREEN = "x" * 300 + "\nhere\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> paths.Place:
    monkeypatch.setattr(user_rules, "switched_off", set())
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    place = place_in(str(tmp_path))
    Path(place.home, "screens.toml").write_text(SLOW + FINE)
    user_rules.together.clear()
    return place


def test_a_slow_rule_is_switched_off_and_the_others_go_on(place: paths.Place) -> None:
    rules = user_rules.of(place)
    begin = time.process_time()

    assert user_rules.shown(SCREEN, rules).rule == "fine"
    assert time.process_time() - begin < 4 * user_rules.SLOW
    assert [rule.name for rule in user_rules.of(place).rules][:1] == ["fine"]
    assert ["the rule slow took more than" in str(wrong) for wrong in user_rules.of(place).broken] == [True]


def test_a_rule_that_has_been_changed_is_tried_again(place: paths.Place) -> None:
    user_rules.shown(SCREEN, user_rules.of(place))
    Path(place.home, "screens.toml").write_text(SLOW.replace("(x+x+)+y", "^x+$"))

    assert user_rules.shown(SCREEN, user_rules.of(place)).rule == "slow"


def test_doctor_tries_the_rules_by_itself(place: paths.Place) -> None:
    Path(place.home, "screens.toml").write_text(SLOW.replace("(x+x+)+y", "(a+)+b") + FINE)

    assert [text.endswith("it is left out") for text in user_rules.problems(place)] == [True]


def test_a_quick_rule_works_in_every_thread(place: paths.Place) -> None:
    Path(place.home, "screens.toml").write_text(FINE)
    found = []
    thread = threading.Thread(target=lambda: found.append(user_rules.shown("here", user_rules.of(place)).rule))
    thread.start()
    thread.join()

    assert found == ["fine"]
