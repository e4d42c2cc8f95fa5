"""What state a screen shows: recordings of the real client, upstream's captures, and screens that nobody has seen."""

import re
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibstatus.claude.client import Claude
from ibstatus.claude.screens import prompt, rules_file, states
from tests.conftest import PROJECT

SHARED = PROJECT.parent / "shared"
UPSTREAM = sorted((SHARED / "upstream-fixtures").glob("*.txt"))
REAL = SHARED / "claude-code" / "screens"
LABELS = [
    tuple(line.split("\t"))
    for line in ((REAL / "LABELS.tsv").read_text() if REAL.exists() else "").splitlines()
    if not line.startswith("#")
]
OURS = sorted((PROJECT / "fixtures" / "screen-states").iterdir())
LINES = sorted({line for path in OURS for line in path.read_text().splitlines()})
NBSP = "\u00a0"
OF_OLD_FIXTURES = {  # what rules/screens reads → the states that are right for it
    "busy": {"running", "compacting"},
    "prompt": {"waiting", "rate_limited", "running"},
    "draft": {"waiting"},
    "ended": {"stopped"},
    "unknown": {"unknown"},
    **{key: {"waiting"} for key in ("permission", "question", "plan", "other")},
    **{key: {"creating"} for key in ("trust", "bypass", "api-key", "imports")},
    "limit": {"rate_limited"},
}


def boxed(above: str, footer: str = "  ? for shortcuts · ← for agents", line: str = "❯\u00a0", width: int = 80) -> str:
    return f"{above}\n{'─' * width}\n{line}\n{'─' * width}\n{footer}\n"


@pytest.mark.parametrize("path", UPSTREAM, ids=lambda path: path.stem)
def test_a_capture_of_upstream(path: Path) -> None:
    expected = path.name.partition("-")[0]
    found = states.shown(path.read_text())

    assert found.state == expected or (expected, found.state, found.idle) == ("unknown", "waiting", True)


@pytest.mark.parametrize(("name", "expected"), LABELS)
def test_a_screen_of_the_real_client(name: str, expected: str) -> None:
    assert states.shown((REAL / name).read_text()).state in expected.split("|")


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_a_recording_of_ours(path: Path) -> None:
    state, reason, _ = path.name.split("-", 2)
    found = states.shown(path.read_text())

    assert found.state == state
    assert found.reason.partition(":")[0] == ("" if reason == "none" else reason)
    assert found.idle == (found.rule in ("prompt", "interrupted", "error"))


@pytest.mark.parametrize("path", sorted((PROJECT / "fixtures" / "screens").iterdir()), ids=lambda path: path.stem)
def test_the_two_questions_agree(path: Path) -> None:
    kind = next(kind for kind in OF_OLD_FIXTURES if path.name.startswith(kind + "-"))
    found = states.shown(path.read_text())

    assert found.state in OF_OLD_FIXTURES[kind]
    assert not found.idle or prompt.read(path.read_text()).kind == "prompt"


@pytest.mark.parametrize(
    ("start", "asks"),
    [
        ("waiting-permission-2_1_326-60-permission-prompt-bash", "Bash command: touch /srv/ib/probe/x/tmp/outside;"),
        ("waiting-permission-2_1_197-60-permission-prompt-bash", "Bash command: touch /srv/ib/probe/x/tmp/outside;"),
        ("waiting-permission-2_1_326-200-permission-prompt-edit", "Edit file: x.txt"),
        ("waiting-permission-2_1_326-60-permission-prompt-webfetch", "Fetch: Claude wants to fetch content"),
        ("waiting-question-2_1_326-60-ask-user-question-multiselect", "Which sizes?"),
        ("waiting-plan-2_1_326-60-exit-plan", "Exit plan mode?"),
        (
            "rate_limited-limit-2_1_326-60-subscriber-usage-limit-reached",
            "You've hit your 5-hour limit · resets 12:27am",
        ),
        (
            "rate_limited-limit-2_1_197-60-subscriber-usage-limit-after",
            "You've hit your session limit · resets 12:31am",
        ),
        ("creating-trust-2_1_326-200-resume-picker", "Accessing workspace: /srv/ib/pr"),
    ],
)
def test_what_is_asked(start: str, asks: str) -> None:
    path = next(path for path in OURS if path.name.startswith(start))

    assert states.shown(path.read_text()).asks.startswith(asks)


@pytest.mark.parametrize(
    ("text", "state", "reason"),
    [
        (boxed("✻ API error · Retrying in 25s · attempt 1/10"), "running", "retrying: API error"),
        (boxed("✻ 529 Overloaded · retrying in 3s · attempt 4/10"), "running", "retrying: 529 Overloaded"),
        (boxed("● done", "  esc to interrupt · ← for agents"), "running", ""),
        (boxed("· Compacting conversation… (1s)"), "compacting", ""),
        (boxed("* Compacting conversation… (1s)", "  ⏵⏵ bypass permissions on · esc to interrupt"), "compacting", ""),
        (boxed("* Waiting for 2 background agents to finish"), "running", "background"),
        (boxed("* 529 Overloaded · retrying in 3s · attempt 4/10"), "running", "retrying: 529 Overloaded"),
        (boxed("* Baking… (3s)"), "running", ""),
        (boxed("● see:\n  * Compacting conversation…\n  * Baking…"), "waiting", "input"),
        (boxed("● see:\n\n* Compacting conversation\n* Waiting for two"), "waiting", "input"),
        ("* Baking… (3s)", "running", ""),
        ("* main\n  topic", "unknown", ""),
        ("⏺ see\n* one ↓ two", "unknown", ""),
        ("* one… and another", "unknown", ""),
        (
            boxed("❯ go\n  ⎿ \u00a0You've hit your weekly limit · resets Oct 7, 1am (CET)"),
            "rate_limited",
            "limit",
        ),
        (boxed("❯ go\n\n● Bash(x)\n  ⎿ \u00a0You've hit your weekly limit"), "waiting", "input"),
        (boxed("❯ go\n  ⎿ \u00a0You've hit your weekly limit\n\n❯ go on\n\n● Done."), "waiting", "input"),
        (boxed("● API Error: 500 Internal server error\n\n✻ Baked for 1s"), "waiting", "error: API Error: 500"),
        (boxed("● WAITING\n\n  I HAVE COMPLETED THE GOAL\n"), "waiting", "input"),
        (boxed("● Error: rate_limit_error, usage limit reached, hit your limit"), "waiting", "input"),
        (boxed("● ✻ Compacting conversation…\n  ⎿ Waiting (esc to interrupt"), "waiting", "input"),
        (boxed(boxed("● see:", "  esc to interrupt")), "waiting", "input"),
        (boxed("● done", "  ? pour les raccourcis · ← pour les agents"), "waiting", "input"),
        (boxed("● done", "", "❯\u00a0" + "a long draft " * 40), "waiting", "input"),
        (boxed("● done", line="!\u00a0ls"), "waiting", "input"),
        (boxed("x", "  ⚠ Usage limit reached · limit resets 8:28am"), "rate_limited", "limit"),
        (boxed("x", width=20), "waiting", "input"),
        (boxed("x", "  ⏵⏵ bypass perm…", width=20), "unknown", ""),
        (boxed("● done", "  ~/proj main ❯ Opus 4\n  ────────────\n  ⏸ manual mode on"), "waiting", "input"),
        (boxed("● done", "  ❯ main\n  ⏸ manual mode on · esc to interrupt"), "running", ""),
        (boxed("● done", "  Usage limit reached: 0 of 5\n  tip: esc to interrupt"), "waiting", "input"),
        ("● bye\nResume this session with:\nclaude --resume 1234", "stopped", ""),
        ("WAITING", "waiting", "input"),
        ("⏺ I HAVE COMPLETED THE GOAL", "complete", ""),
        ("say 'I HAVE COMPLETED THE GOAL'", "unknown", ""),
        ("⏺ WAITING\n⏺ Bash(x)", "running", ""),
        ("✻ Sautéed for 9s", "unknown", ""),
        ("✻ Cooking… (3s · thought for 2s)", "unknown", ""),
        ("✻ Cooking…", "running", ""),
        ("✻ Cooking…\n✻ Ran hook (esc to interrupt)\n" + "\n".join("abcdefgh"), "running", ""),
        ("✻ a hook\nrunning stop hook", "creating", ""),
        ("\n".join(["Compacting conversation", *"abcd"]), "compacting", ""),
        ("\n".join(["Compacting conversation", *"abcde"]), "unknown", ""),
        ("", "unknown", ""),
        ("\n" * 500, "unknown", ""),
        ("\x00\x01\ufffd" * 900, "unknown", ""),
    ],
)
def test_a_screen_by_hand(text: str, state: str, reason: str) -> None:
    found = states.shown(text)

    assert found.state == state
    assert found.reason.startswith(reason)
    assert bool(found.reason) == bool(reason)


def test_binary_text_is_asked_about_harmlessly() -> None:
    said = " Bash command\n\n   echo \x1b[31m\x07\u202e" + "x" * 500
    text = f"{'─' * 80}\n{said}\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n"
    found = states.shown(text)

    assert (found.state, found.reason) == ("waiting", "permission")
    assert found.asks.isprintable()
    assert len(found.asks) == 200


@given(st.lists(st.one_of(st.sampled_from(LINES), st.text(max_size=40)), max_size=60), st.integers(0, 4000))
@settings(deadline=None)
def test_any_mix_of_lines_is_read(lines: list[str], cut: int) -> None:
    text = "\n".join(lines)

    for part in (text, text[:cut], text[cut:]):
        found = states.shown(part)
        assert found.state in rules_file.STATES
        assert len(found.asks) <= 200
        assert found.asks.isprintable()
        assert not found.idle or prompt.read(part).kind == "prompt"


@given(st.text(st.characters(exclude_characters="\n\r\x1b\x0e\x0f"), max_size=300), st.sampled_from(["20", "80"]))
@settings(deadline=None)
def test_nothing_in_an_answer_makes_an_idle_session_another(said: str, width: str) -> None:
    text = boxed(f"❯ go\n\n● {said} WAITING\n  I HAVE COMPLETED THE GOAL\n\n✻ Baked for 3s", width=int(width))
    found = states.shown(text)

    assert (found.state, found.idle) == ("waiting", True)


class Counting:
    """A pattern that adds up how long the texts were that it was given."""

    def __init__(self, pattern: re.Pattern[str], seen: list[int]) -> None:
        self.pattern, self.seen = pattern, seen

    def search(self, text: str) -> re.Match[str] | None:
        self.seen.append(len(text))
        return self.pattern.search(text)


@pytest.mark.parametrize("unit", ["─", " ", "✻ ", "WAITING\n", "❯ a\n", "\x1b[", "⎿\n", "a"])
def test_rules_see_little_of_a_text_without_end(unit: str) -> None:
    seen: list[int] = []
    rules = rules_file.Rules(
        tuple(
            rule._replace(match=tuple(cast("re.Pattern[str]", Counting(one, seen)) for one in rule.match))
            for rule in rules_file.built_in().rules
        )
    )

    states.shown(unit * (1_000_000 // len(unit)), rules)

    assert max(seen, default=0) <= prompt.MOST
    assert sum(seen) <= 3 * prompt.MOST


def test_the_client_is_asked_with_the_rules_of_the_user() -> None:
    own = rules_file.parsed(b"[[rule]]\nname='x'\nstate='unknown'\nwhere='footer'\non='box'\nmatch='shortcuts'", "f")
    client = Claude().with_rules(rules_file.joined([own]))

    assert client.shown(boxed("● done")).rule == "x"
    assert Claude().shown(boxed("● done")).rule == "prompt"
