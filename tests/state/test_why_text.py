"""What `ib why` says in words."""

from ibstatus.state.rules import why_text
from ibstatus.state.rules.why_text import Place, Why

EVENT = {"t": "2026-01-01T00:00:00Z", "kind": "agent.state", "who": "w", "state": "waiting", "said": "word " * 40}


def why(**more: object) -> Why:
    given = {"id": "w", "state": "waiting", "reason": "input", "source": "screen", "since": 0.0, "because": "it rests"}
    given |= {"note": "", "asks": "", "said": "", "silent": False, "evidence": [], "where": Place("ib", "s")}
    return Why(**{**given, "transcript": "", "events": [], **more})  # type: ignore[arg-type]


def head(found: Why) -> str:
    return why_text.text(found, 1.0).partition("\n\n")[0]


def test_the_heading_says_what_the_list_says() -> None:
    assert head(why(note="interrupted")) == "w is waiting (interrupted), by screen: it rests"
    assert head(why(note="a draft")) == "w is waiting (input), by screen: it rests (a draft)"


def test_nothing_is_said_twice() -> None:
    assert head(why(note="it rests")) == "w is waiting (input), by screen: it rests"
    same = why_text.text(why(note="interrupted", published=why_text.heading("waiting", "input", "interrupted")), 1.0)
    assert "which has watched for longer" not in same


def test_events_are_cut_to_the_terminal_alone() -> None:
    lines = [why_text.text(why(events=[EVENT]), 1.0, width).splitlines()[-1] for width in (0, 80, 100)]

    assert [len(line) for line in lines[1:]] == [80, 100]
    assert lines[0].rstrip().endswith("word")
