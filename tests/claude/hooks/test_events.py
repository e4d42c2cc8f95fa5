"""Our hooks in the text of a settings file: in, brought up to date, and out again without a trace."""

import json
from random import Random
from typing import Any

import pytest

from ibstatus.claude.hooks import command_lines, settings_edit
from ibstatus.claude.hooks import events as hook_settings
from ibstatus.claude.hooks.events import INTERCEPT, MAIN
from ibstatus.project import settings
from ibstatus.titles import glyphs
from ibstatus.titles.machine import STOP_ONLY
from tests.conftest import PROJECT
from tests.sweeps import SOAK

PROGRAM = ("/opt/ib/bin/python", "/opt/ib/lib/ibstatus/hooks/stub.py")
OTHER = ("/home/o'brien/py thon", "/home/o'brien/x y/ibstatus/hooks/stub.py")
WANTED = hook_settings.wanted(PROGRAM)
INTERCEPTED = hook_settings.wanted(PROGRAM, INTERCEPT)
EVENTS = sorted({want.event for want in WANTED})
FILES = 500 if SOAK else 100
MODES = tuple(hook_settings.TITLE_EVENTS)


def put_in(
    text: str,
    program: command_lines.Program = PROGRAM,
    kind: str = MAIN,
    before: str = "",
    titles: str = STOP_ONLY,
) -> str:
    return settings_edit.with_hooks(text, hook_settings.wanted(program, kind, titles), kind, before)


def state(text: str, program: command_lines.Program = PROGRAM, kind: str = MAIN, titles: str = STOP_ONLY) -> str:
    return hook_settings.state_of(settings_edit.values_of(text), hook_settings.wanted(program, kind, titles), kind)


def events_of_titles(text: str) -> set[str]:
    found = [mine.event for mine in hook_settings.ours(json.loads(text)) if mine.hook == hook_settings.TITLES]
    assert len(found) == len(set(found))
    return set(found)


class Settings:
    """A settings file as somebody might have written it: any order, layout, and hooks of their own."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.newline = self.random.choice(["\n", "\n", "\n", "\r\n", ""])
        self.unit = self.random.choice(["  ", "    ", "\t", ""])
        self.colon = self.random.choice([": ", ":", " : "])

    def text(self) -> str:
        body = self.written(self.root(), 0)
        return self.random.choice(["", "", "", "\n", "  "]) + body + self.random.choice(["", "\n", "\r\n", "\n\n  "])

    def root(self) -> list[tuple[str, Any]]:
        members: list[tuple[str, Any]] = [
            ("permissions", {"allow": ["Bash(npm test:*)", "Read"], "deny": []}),
            ("model", "opus"),
            ("env", {"ü\u2028": '\\ " \x7f { [ , hooks'}),
            ("permissions", None),
            ("numbers", [1, 2.50, -1e9, [[]], {}]),
        ]
        kept = [member for member in members if self.random.random() < 0.5]
        for _ in range(self.random.choice([0, 1, 1, 1, 1, 2])):
            kept.append(("hooks", self.random.choice([None, {}, self.hooks(), self.hooks(), self.hooks()])))
        self.random.shuffle(kept)
        return kept

    def hooks(self) -> Any:
        events: list[tuple[str, Any]] = [(event, self.entries()) for event in EVENTS if self.random.random() < 0.3]
        events += [("PostToolUse", self.entries())] if self.random.random() < 0.5 else []
        self.random.shuffle(events)
        return tuple(events)

    def entries(self) -> Any:
        some = [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "./check.sh"}]},
            {"hooks": [{"command": "echo hi # ib", "timeout": 5, "type": "command"}]},
            {"hooks": []},
            {"hooks": [{"type": "prompt", "prompt": "Is it done?"}, {"type": "command", "command": "true"}]},
            "not an entry",
        ]
        return self.random.choice([None, [], self.random.sample(some, 1), self.random.sample(some, 3)])

    def written(self, value: Any, depth: int) -> str:
        """Pairs are objects whose names may come twice."""
        pairs = value if isinstance(value, tuple) else list(value.items()) if isinstance(value, dict) else None
        if depth == 0:
            pairs = value
        if pairs is None and not isinstance(value, list):
            return json.dumps(value, ensure_ascii=self.random.random() < 0.5)
        opened, closed = "[]" if pairs is None else "{}"
        items = (
            [self.written(item, depth + 1) for item in value]
            if pairs is None
            else [self.key(key) + self.colon + self.written(item, depth + 1) for key, item in pairs]
        )
        if not items:
            return opened + self.random.choice(["", "", " ", self.newline + self.unit * depth]) + closed
        if self.random.random() < 0.2:
            return opened + self.random.choice([", ", ",", " , "]).join(items) + closed
        deeper = self.newline + self.unit * (depth + 1)
        blank = self.random.choice(["", "", "", self.newline])
        return opened + deeper + ("," + blank + deeper).join(items) + self.newline + self.unit * depth + closed

    def key(self, key: str) -> str:
        """As it may be spelled too."""
        return json.dumps(key) if self.random.random() < 0.9 else '"' + "".join(f"\\u{ord(c):04x}" for c in key) + '"'


@pytest.mark.sweep
@pytest.mark.parametrize("first", range(0, FILES, 50))
def test_what_was_put_in_and_taken_out_leaves_every_byte(first: int) -> None:
    for seed in range(first, first + 50):
        text = Settings(seed).text()
        made = put_in(text)
        both = put_in(made, kind=INTERCEPT, before=text)

        assert json.loads(both) is not None
        assert (state(made), state(both), state(both, kind=INTERCEPT)) == ("installed",) * 3, seed
        assert put_in(both, before=text) == both
        assert settings_edit.without_hooks(both, INTERCEPT, text) == made, seed
        assert settings_edit.without_hooks(made, MAIN, text) == text, seed
        other_way = settings_edit.without_hooks(both, MAIN, text)
        assert other_way is not None
        assert settings_edit.without_hooks(other_way, INTERCEPT, text) == text, seed


@pytest.mark.sweep
@pytest.mark.parametrize("first", range(0, FILES, 100))
def test_an_update_by_another_version_leaves_no_trace_either(first: int) -> None:
    for seed in range(first, first + 100):
        text = Settings(seed).text()
        old = put_in(text, OTHER)
        assert state(old) == "outdated"
        new = put_in(old, before=text)

        assert state(new) == "installed"
        assert "brien" not in new
        assert len(hook_settings.ours(json.loads(new))) == len(WANTED)
        assert settings_edit.without_hooks(new, MAIN, text) == text, seed


@pytest.mark.parametrize("first", range(0, 100, 50))
def test_a_file_that_went_through_modes_of_titles_has_no_trace_of_the_others(first: int) -> None:
    for seed in range(first, first + 50):
        text = Settings(seed).text()
        random = Random(seed)
        made, last = text, ""
        for mode in random.choices(MODES, k=3):
            assert last == "" or state(made, titles=mode) == ("installed" if mode == last else "outdated"), seed
            made, last = put_in(made, before=text, titles=mode), mode
            assert state(made, titles=mode) == "installed", seed
            assert events_of_titles(made) == set(hook_settings.TITLE_EVENTS[mode]), seed
        assert put_in(made, before=text) == put_in(text), seed
        assert settings_edit.without_hooks(made, MAIN, text) == text, seed


@pytest.mark.sweep
@pytest.mark.parametrize("first", range(0, FILES, 100))
def test_what_the_user_changes_meanwhile_is_all_that_stays(first: int) -> None:
    """The same change, made to the file with our hooks and to the one without them."""
    for seed in range(first, first + 100):
        text = Settings(seed).text()
        random = Random(seed)
        changes = [lambda one: one.replace('"opus"', '"sonnet"'), lambda one: one.replace("./check.sh", "./other.sh")]
        changes += [lambda one: one.replace("Bash(npm test:*)", "Bash(ls:*)").rstrip() + "\n\n"]
        for change in random.sample(changes, 2):
            made, wanted = change(put_in(text)), change(text)

            assert settings_edit.without_hooks(made, MAIN, text) == wanted, seed


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(40 if SOAK else 10))
@pytest.mark.parametrize("indent", [2, None, "\t"])
def test_a_client_that_writes_the_whole_file_anew_is_no_obstacle(seed: int, indent: int | str | None) -> None:
    text = Settings(seed).text()
    again = json.dumps(json.loads(put_in(text)), indent=indent)

    taken = settings_edit.without_hooks(again, MAIN, text)

    assert taken is not None
    assert not hook_settings.ours(json.loads(taken))
    assert json.dumps(json.loads(taken)) == json.dumps(json.loads(text))


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(100 if SOAK else 30))
def test_entries_that_the_user_adds_beside_ours_stay(seed: int) -> None:
    """Behind ours, in events that are there for us alone, and before ours."""
    text = Settings(seed).text()
    value = json.loads(put_in(text))
    mine = {"matcher": "Mine", "hooks": [{"type": "command", "command": "mine.sh"}]}
    random = Random(seed)
    added = random.sample(EVENTS, 3)
    for event in added:
        value["hooks"][event].insert(random.choice([0, len(value["hooks"][event])]), mine)

    taken = settings_edit.without_hooks(json.dumps(value, indent=2), MAIN, text)

    assert taken is not None
    left = json.loads(taken)["hooks"]
    assert all(mine in left[event] for event in added)
    known = json.loads(text).get("hooks") if text.strip() else None
    others = {event: known[event] for event in known or () if event not in added}
    assert {event: left[event] for event in left if event not in added} == others


def test_without_the_note_what_is_left_empty_goes() -> None:
    for text, rest in (('{"a": 1}', '{"a": 1}'), ('{"hooks": {}, "a": 1}', '{"a": 1}'), ("{}", "{}"), ("", "{}\n")):
        assert settings_edit.without_hooks(put_in(text), MAIN, settings_edit.UNKNOWN) == rest


@pytest.mark.parametrize("before", ["", " \n", "{}", "{ }\n", "{\n\n}", '{"hooks": {\n}}', '{"hooks":null}\r\n'])
def test_as_good_as_nothing(before: str) -> None:
    assert settings_edit.without_hooks(put_in(before), MAIN, before) == before


def test_a_file_that_was_made_for_us_is_to_go() -> None:
    made = put_in("")
    assert made.startswith('{\n  "hooks": {\n    "SessionStart": [\n      {\n        "hooks": [\n          {\n')
    assert made.endswith("\n  }\n}\n")
    assert settings_edit.without_hooks(made, MAIN, None) is None
    added = made.replace("{\n", '{\n  "model": "opus",\n', 1)
    assert settings_edit.without_hooks(added, MAIN, None) == '{\n  "model": "opus"\n}\n'


def test_a_hook_of_the_user_in_our_entry_stays() -> None:
    value = json.loads(put_in("{}"))
    value["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "mine.sh"})
    value["hooks"]["PreToolUse"][0]["hooks"].insert(0, {"type": "command", "command": "first.sh"})

    taken = settings_edit.without_hooks(json.dumps(value, indent=2), MAIN, "{}")

    assert taken is not None
    assert json.loads(taken)["hooks"] == {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "first.sh"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "mine.sh"}]}],
    }


def test_our_hook_in_an_entry_of_the_user_is_brought_up_to_date_there() -> None:
    mine = hook_settings.wanted(OTHER)[4].value
    text = json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash|Read", "hooks": [{"a": 1}, mine]}]}})

    made = put_in(text)

    entries = json.loads(made)["hooks"]["PreToolUse"]
    assert entries == [{"matcher": "Bash|Read", "hooks": [{"a": 1}, WANTED[4].value]}]


def test_a_time_limit_of_the_user_is_kept() -> None:
    made = put_in("{}").replace('"timeout": 10', '"timeout": 30', 1)

    assert state(made) == "installed"
    assert put_in(made) == made


def test_one_that_stands_there_twice_is_there_once_afterwards() -> None:
    value = json.loads(put_in("{}"))
    value["hooks"]["Stop"] += value["hooks"]["Stop"]

    made = put_in(json.dumps(value))

    assert state(json.dumps(value)) == "outdated"
    assert len(hook_settings.ours(json.loads(made))) == len(WANTED)


def test_a_hook_of_ours_that_no_version_has_any_more_goes() -> None:
    value = json.loads(put_in("{}"))
    old = hook_settings.ordinary(command_lines.quiet(OTHER, "no-longer"))
    value["hooks"]["PostToolUse"] = [{"hooks": [old]}]
    text = json.dumps(value, indent=2)

    assert state(text) == "outdated"
    assert json.loads(put_in(text)) == json.loads(put_in("{}"))


def test_partial() -> None:
    value = json.loads(put_in("{}"))
    del value["hooks"]["SessionEnd"]

    assert state(json.dumps(value)) == "partial"
    assert state("{}") == "not-installed"
    assert state(json.dumps(value), kind=INTERCEPT) == "not-installed"


@pytest.mark.parametrize(
    ("text", "why", "at"),
    [
        ("{", "expecting property name", 1),
        ('{"a": 1,}', "", 7),
        ("[]", "an object was expected", 0),
        ("null", "an object was expected", 0),
        ('{"hooks": []}', '"hooks" is not an object', 10),
        ('{"a":1, "hooks": "x"}', '"hooks" is not an object', 17),
        ('{"hooks": {"Stop": {}}}', '"Stop" is not a list', 19),
        ('{"hooks": {"Stop": false}}', '"Stop" is not a list', 19),
        ('// mine\n{"a": 1}', "a comment stands here", 0),
        ('{"a": 1 // mine\n}', "a comment stands here", 7),
        ('{\n  /* b */ "a": 1}', "a comment stands here", 4),
        ('{"a": 1}\n// end', "a comment stands here", 8),
        ('{"a": 1} {}', "more text", 8),
    ],
)
def test_what_cannot_be_edited_is_refused(text: str, why: str, at: int) -> None:
    with pytest.raises(settings_edit.Unfit) as refused:
        put_in(text)

    assert why in refused.value.why
    assert abs(refused.value.at - at) <= 1


def test_another_event_of_a_wrong_shape_is_no_business_of_ours() -> None:
    text = '{"hooks": {"PostToolUse": {"a": 1}, "Setup": 3}}'

    assert settings_edit.without_hooks(put_in(text), MAIN, text) == text


def test_the_mark_alone_does_not_make_it_ours() -> None:
    assert not command_lines.is_ours("./build.sh # ib")
    assert not command_lines.is_ours(f"python {PROGRAM[1]}")
    assert not command_lines.is_ours(None)
    assert all(command_lines.is_ours(want.value["command"]) for want in [*WANTED, *INTERCEPTED])
    assert [command_lines.hook_of(want.value["command"]) for want in WANTED] == [want.hook for want in WANTED]
    others = hook_settings.wanted(OTHER)
    assert [command_lines.hook_of(want.value["command"]) for want in others] == [want.hook for want in others]


def test_hooks_from_before_there_were_titles_are_outdated() -> None:
    """What is missing of titles alone is another mode, or an ib that knew of none; nobody took it out."""
    old = put_in("{}", titles="off")
    assert [state(old, titles=mode) for mode in MODES] == ["outdated", "outdated", "installed"]
    assert put_in(old) == put_in("{}")

    value = json.loads(put_in("{}"))
    del value["hooks"]["Stop"]
    assert state(json.dumps(value)) == "partial"
    assert state("{}", titles="off") == "not-installed"


def test_every_mode_of_titles_has_its_events() -> None:
    assert set(MODES) == set(settings.KEYS["tmux.titles"].choices)
    assert settings.KEYS["tmux.titles"].default == STOP_ONLY
    assert settings.KEYS["tmux.glyphs"].choices == glyphs.STYLES
    for mode in MODES:
        wanted = hook_settings.wanted(PROGRAM, titles=mode)
        titles = {want.event for want in wanted if want.hook == hook_settings.TITLES}
        assert titles == set(hook_settings.TITLE_EVENTS[mode])
        assert {want.key for want in wanted if want.hook != hook_settings.TITLES} == {
            want.key for want in WANTED if want.hook != hook_settings.TITLES
        }
        assert all(want.matcher == "" for want in wanted if want.hook == hook_settings.TITLES)
    assert hook_settings.wanted(PROGRAM, INTERCEPT, "off") == hook_settings.wanted(PROGRAM, INTERCEPT, "real-time")


def test_every_event_has_its_hooks() -> None:
    assert {(want.event, want.matcher, want.hook) for want in WANTED} == {
        ("SessionStart", "", "session-start"),
        ("CwdChanged", "", "cwd-changed"),
        ("UserPromptSubmit", "", "inject-status"),
        ("PostToolBatch", "", "inject-status"),
        ("PreToolUse", "Bash", "main-path"),
        ("Stop", "", "agent-status"),
        ("Stop", "", "wait-for-news"),
        ("FileChanged", "", "queue-changed"),
        *((event, "", "agent-status") for event in hook_settings.STATUS_EVENTS),
        *((event, "", "notify-tmux") for event in hook_settings.AT_STOPS),
    }
    assert [want.entry["matcher"] for want in INTERCEPTED] == ["Agent|Task"]
    waits = {want.hook: want.value.get("asyncRewake") for want in WANTED}
    assert {hook for hook, rewakes in waits.items() if rewakes} == {"wait-for-news", "queue-changed"}


UPSTREAM = PROJECT.parent / "shared" / "upstream-fixtures" / "status-hooks"


@pytest.mark.skipif(not UPSTREAM.is_dir(), reason="upstream's fixtures are not here")
@pytest.mark.parametrize("name", ["true", "false", "valid"])
def test_what_users_of_the_bash_tool_have(name: str) -> None:
    """`has` asks for the two hooks that inject the status, in the bash tool's own form."""
    for path in sorted(UPSTREAM.glob(f"{name}-*.json")):
        fixture = json.loads(path.read_text())
        text = json.dumps(fixture["input"], indent=2)
        old = hook_settings.by_hand(fixture["input"])
        if fixture["operation"] == "has":
            events = {event for event, command in old if "inject-status" in command}
            assert ({"UserPromptSubmit", "PostToolUse"} <= events) == (name == "true"), path.name
        else:
            made = put_in(text)
            taken = settings_edit.without_hooks(made, MAIN, text)
            assert taken == text, path.name
            assert hook_settings.by_hand(json.loads(made)) == old
