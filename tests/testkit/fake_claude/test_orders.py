"""Steps that are given while it runs, and hooks in disorder."""

import os
from pathlib import Path

from ibstatus.testkit.fake_claude import hook_payloads, script, waits
from ibstatus.testkit.fake_claude.script import Step
from ibstatus.testkit.fake_claude.settings import Hook


def test_orders_are_taken_one_by_one_and_a_torn_line_waits(tmp_path: Path) -> None:
    path = str(tmp_path / "orders")
    Path(path).write_text("say One\nfinish Done\nsay Tor")

    assert [script.next_of(path) for _ in range(2)] == [Step("say", "One"), Step("finish", "Done")]
    assert not script.has_more(path)

    Path(path).write_text("say One\nfinish Done\nsay Torn\nhold\n")
    assert [script.next_of(path) for _ in range(2)] == [Step("say", "Torn"), Step("hold", path)]

    Path(path).write_text("say One\nfinish Done\nsay Torn\nhold\nhold 529 Overloaded\n")
    assert script.next_of(path) == Step("hold", f"{path}\n529 Overloaded")


def test_without_an_order_a_turn_ends_as_the_last_one_did(tmp_path: Path) -> None:
    path = str(tmp_path / "orders")

    assert script.next_of(path) == Step("wait", "")
    Path(path).write_text("limit usage 8:00am\n")
    assert [script.next_of(path) for _ in range(3)] == [Step("limit", "usage 8:00am")] * 3


def test_a_session_plays_what_it_is_ordered(project, tmp_path: Path) -> None:
    path = tmp_path / "orders"
    path.write_text("say Hello\nfinish All of it\n")
    script = tmp_path / "script"
    script.write_text(f"orders {path}\n")

    done = project.play("-p", "go", FAKE_CLAUDE_SCRIPT=str(script))

    assert "All of it" in done.out


HOOK = Hook("true", 5.0, False, False)


def counted(written: str, event: str, times: int = 400) -> int:
    state = hook_payloads.Disorder(written, "s")
    return sum(len(state.runs(event, [(HOOK, b"")])) for _ in range(times))


def test_in_order_without_the_setting_and_with_a_broken_one() -> None:
    assert counted("", "PostToolUse") == counted("repeat=x,what=1,,=", "PostToolUse") == 400


def test_hooks_are_dropped_and_repeated_as_often_as_was_asked_for() -> None:
    assert counted("drop=1", "PostToolUse") == 0
    assert counted("repeat=1", "PostToolUse") == 800
    assert 400 < counted("repeat=0.2", "PostToolUse") < 600


def test_what_decides_is_never_dropped() -> None:
    for event in ("PreToolUse", "UserPromptSubmit", "Stop", "PermissionRequest", "PostToolBatch"):
        assert counted("drop=1,swap=1,repeat=1", event) == 400


def test_what_is_swapped_comes_after_the_next_one() -> None:
    state = hook_payloads.Disorder("swap=1", "s")

    assert state.runs("PostToolUse", [(HOOK, b"first")]) == []
    assert [data for _, data in state.runs("Stop", [(HOOK, b"second")])] == [b"second", b"first"]


def test_the_same_seed_is_the_same_disorder() -> None:
    runs = [[len(hook_payloads.Disorder("drop=0.5,seed=3", "s").runs("PostToolUse", [(HOOK, b"")]))] for _ in range(5)]

    assert all(run == runs[0] for run in runs)


def test_a_clock_that_leaps_ends_no_hook(tmp_path: Path) -> None:
    child = waits.Child("exec sleep 60", b"", {"PATH": os.defpath}, str(tmp_path), 60.0)
    try:
        assert not child.over(child.deadline + 1e9)
        assert not child.timed_out
    finally:
        child.kill()
