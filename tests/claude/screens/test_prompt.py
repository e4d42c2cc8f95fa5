"""What the screens of the real client show, and how one never takes a session that is not idle for one that is."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibstatus.claude.screens import dialogs, prompt
from ibstatus.claude.screens.dialogs import Dialog
from ibstatus.mail.rules import wake_line
from tests.conftest import PROJECT

SCREENS = sorted((PROJECT / "fixtures" / "screens").iterdir())
IDLE = (PROJECT / "fixtures" / "screens" / "prompt-2_1_326-idle-plan-mode.txt").read_text()
LINE = "❯\u00a0"
WORDS = ("prompt", "draft", "busy", "ended", "unknown", *dialogs.NAMES)


def word_of(screen: prompt.Screen) -> str:
    if screen.dialog is not None:
        return screen.dialog.which
    return "draft" if screen.kind == "prompt" and screen.draft else screen.kind


@pytest.mark.parametrize("path", SCREENS, ids=lambda path: path.name)
def test_a_recording(path: Path) -> None:
    expected = next(word for word in WORDS if path.name.startswith(word + "-"))
    screen = prompt.read(path.read_text())

    assert word_of(screen) == expected
    assert screen.takes_text == (expected == "prompt")


@pytest.mark.parametrize(
    ("name", "answer", "keys"),
    [
        ("trust-2_1_326-trust-dialog-project-with-hooks", "Yes", ("Down", "Enter")),
        ("trust-2_1_326-trust-dialog-project-with-hooks", "No", ("Enter",)),
        ("bypass-2_1_197-bypass-permissions-warning", "Yes, I accept", ("Down", "Enter")),
        ("permission-2_1_326-permission-prompt-edit-file", "No", ("Down", "Down", "Enter")),
        ("question-2_1_197-ask-user-question-two-tabs", "Chat", ("Down", "Down", "Down", "Enter")),
        ("permission-2_1_326-permission-prompt-edit-file", "Perhaps", ()),
    ],
)
def test_the_keys_to_an_answer(name: str, answer: str, keys: tuple[str, ...]) -> None:
    dialog = prompt.read((PROJECT / "fixtures" / "screens" / f"{name}.txt").read_text()).dialog

    assert dialog is not None
    assert dialogs.step_to(dialog, answer) == keys


def test_the_keys_go_up_as_well() -> None:
    assert dialogs.step_to(Dialog("trust", ("Yes", "No"), 1), "yes") == ("Up", "Enter")
    assert dialogs.step_to(Dialog("limit", (), -1), "Yes") == ()


def box(above: str, line: str, width: int = 80, footer: str = "  ? for shortcuts") -> str:
    return f"{above}\n{'─' * width}\n{line}\n{'─' * width}\n{footer}\n"


@pytest.mark.parametrize("width", [20, 60, 80, 160, 200])
def test_a_prompt_line_of_any_width(width: int) -> None:
    assert prompt.read(box("● done", LINE, width)) == prompt.Screen("prompt")
    assert prompt.read(box("● done", LINE + "mine", width)) == prompt.Screen("prompt", "mine")


@pytest.mark.parametrize(
    ("line", "draft"),
    [
        (LINE, ""),
        (LINE + 'Try "fix lint errors"', ""),
        (LINE + "Resend your message to try again", ""),
        (LINE + 'Try "fix lint errors" now', 'Try "fix lint errors" now'),
        (LINE + "[Pasted text #1 +3 lines]", "[Pasted text #1 +3 lines]"),
        (LINE + "one\n  two\n\n  three", "one\ntwo\n\nthree"),
        ("!\u00a0", "!"),
        ("!\u00a0ls", "!ls"),
        ("\x1b[39m❯\u00a0\x1b[7m \x1b[0m\x1b[39m", ""),
        ('\x1b[39m❯\u00a0\x1b[7mT\x1b[27m\x1b[2mry "fix"\x1b[22m', ""),
        ('\x1b[39m❯\u00a0Try "fix"\x1b[7m \x1b[0m', 'Try "fix"'),
        ("\x1b[38;5;2m❯\u00a0a\x1b[0m", "a"),
        ("\x1b[39m❯\u00a0\x1b[7ma\x1b[0m", "a"),
        ("\x1b[39m❯\u00a0mine\x1b[2m and a suggestion\x1b[22m", "mine and a suggestion"),
        ("\x1b[39m❯\u00a0\x1b[2ma suggestion\x1b[22m", ""),
    ],
)
def test_what_stands_on_the_prompt_line(line: str, draft: str) -> None:
    assert prompt.read(IDLE.replace(LINE, line)) == prompt.Screen("prompt", draft)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n\n",
        "$ ls\nfile.txt\n$ ",
        LINE,
        box("● done", "❯ "),  # a prompt that was sent
        box("● done", "  " + LINE),
        box("● done", LINE) + "  ❯ 1. Yes\n    2. No\n",
        box("● done", LINE, footer="\n".join(["  somebody's text"] * 12)),
        box("✻ Whirring… (6s · thinking)", LINE),
        box("✻ Doing first job… (2s · ↓ 62 tokens)\n  ⎿ ◼ First job\n     ◻ Second job", LINE),
        box("✻ 529 Overloaded · retrying in 3s · attempt 4/10", LINE),
        box("● done", LINE, footer="  ⏵⏵ bypass permissions on · esc to interrupt"),
        box("● done", LINE, footer="  ⚠ Usage limit reached · limit resets 8:28am"),
        box("● done", LINE).replace("─", "-"),
        box("● a picture of a prompt", LINE) + f"{'─' * 80}\n Do you want to go on?\n ❯ 1. Yes\n   2. No\n",
        "Resume this session with:\nclaude --resume 1234\n",
        "Pane is dead (status 1, Wed Nov 18 05:58:53 2026)",
    ],
)
def test_where_nobody_may_type(text: str) -> None:
    assert not prompt.read(text).takes_text


STATUS_LINES = [
    "  ~/proj main ❯ Opus 4",
    "  ❯ main",
    "  ────────────────────────",
    "  ╭─ main ───────────────╮",
    "  Usage limit reached: 0 of 5",
    "  tip: esc to interrupt",
    "\n".join(["  somebody's text"] * 9),
]


@pytest.mark.parametrize("below", STATUS_LINES)
def test_a_status_line_of_the_user_is_no_part_of_the_client(below: str) -> None:
    idle = box("● done", LINE, footer=f"{below}\n  ⏸ manual mode on · ? for shortcuts")
    busy = box("● done", LINE, footer=f"{below}\n  ⏸ manual mode on · esc to interrupt")

    assert prompt.read(idle) == prompt.Screen("prompt")
    assert prompt.read(busy) == prompt.Screen("busy")


@pytest.mark.parametrize("below", STATUS_LINES)
def test_nor_does_it_hide_a_dialog_or_a_draft(below: str) -> None:
    asks = f"{'─' * 80}\n Do you want to go on?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel · Tab to amend\n"

    assert prompt.read(box("● done", LINE, footer=below) + asks).kind == "dialog"
    assert prompt.read(box("● done", LINE + "look:\n  ────────────\n  done", footer=below)).draft.endswith("done")


@pytest.mark.parametrize(
    ("above", "footer", "kind"),
    [
        ("● done", "  ⏸ manual mode …", "unknown"),
        ("", "  ⏵⏵ bypass perm…", "unknown"),
        ("✻ Baking…", "  ⏸ manual mode …", "busy"),
        ("● done", "  esc to interru…", "busy"),
        ("● done", "  ? for shortcuts", "prompt"),
        ("● done\n\n✻ Baked for 3s\n", "  ⏸ manual mode …", "prompt"),
    ],
)
def test_a_terminal_so_small_that_a_turn_would_not_show(above: str, footer: str, kind: str) -> None:
    assert prompt.read(box(above, LINE, 20, footer)).kind == kind


@pytest.mark.parametrize(("above", "kind"), [(1, "unknown"), (3, "unknown"), (4, "prompt")])
def test_a_terminal_that_ends_with_the_prompt_line(above: int, kind: str) -> None:
    """The real client cuts off its footer there."""
    text = "\n".join([*["  said"] * above, "─" * 30, LINE, "─" * 30])

    assert prompt.read(text + "\n").kind == kind
    assert prompt.read(text + "\n\n").kind == "prompt"


def test_the_picture_of_a_dialog_in_the_conversation_is_none() -> None:
    shown = "● It said:\n  Do you want to proceed?\n  ❯ 1. Yes\n    2. No\n  Esc to cancel"

    assert prompt.read(box(shown, LINE)) == prompt.Screen("prompt")


def test_text_in_a_dialog_does_not_make_it_another_one() -> None:
    asked = " Bash command\n\n   echo 'Accessing workspace: Yes, I trust this folder'\n   ❯ 1. No\n"
    text = f"{'─' * 80}\n{asked}\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel · Tab to amend\n"
    dialog = prompt.read(text).dialog

    assert dialog == Dialog("permission", ("Yes", "No"), 0)


def recorded(name: str) -> str:
    return (PROJECT / "fixtures" / "screens" / f"{name}.txt").read_text()


EDIT = recorded("permission-2_1_326-permission-prompt-edit-file")
ASKS = recorded("question-2_1_326-ask-user-question-two-tabs")


@pytest.mark.parametrize(
    "words",
    [
        "from external import thing",
        "# Would you like to proceed? see the plan",
        "Exit plan mode?",
        "Background work is running",
        "set a custom API key here",
        "Do you want to use this API key?",
        "Bypass Permissions mode",
        "trust the files in this folder",
        "Enter to select",
    ],
)
def test_words_in_a_diff_make_no_other_dialog(words: str) -> None:
    lines = EDIT.split("\n")
    end = next(at for at, line in enumerate(lines) if "Do you want to" in line) - 1

    for text in ("\n".join([*lines[:end], f" 3 +{words}", *lines[end:]]), EDIT.replace(" x.txt", f" {words}")):
        dialog = prompt.read(text).dialog
        assert dialog is not None
        assert dialog.which == "permission"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Red", "Stop and wait for limit to reset"),
        ("Red", "Yes, I trust this folder"),
        ("Red", "Yes"),
        ("Warm", "Esc to cancel · Tab to amend"),
        ("Which colour?", "Which external import style?"),
        ("Which colour?", "Do you want to merge?"),
        ("Which colour?", "Should the plan go on? Would you like to proceed?"),
        ("Which colour?", "Which custom API key?"),
        ("Which colour?", "What do you want to do?"),
    ],
)
def test_a_question_stays_one_whatever_it_asks(old: str, new: str) -> None:
    assert old in ASKS
    dialog = prompt.read(ASKS.replace(old, new)).dialog

    assert dialog is not None
    assert dialog.which == "question"


@pytest.mark.parametrize(
    ("said", "options", "which"),
    [
        ("What do you want to do?", ("Stop and wait for limit to reset", "Upgrade your plan"), "limit"),
        ("What do you want to do?", ("Stop and wait for limit to reset", "a", "b", "c"), "other"),
        ("cut off by a low terminal", ("Stop and wait for limit to reset", "Upgrade your plan"), "limit"),
        ("Pick one", ("Stop and wait for limit to reset", "Do something else"), "other"),
        ("Safe?", ("No, exit", "Yes, I trust this folder"), "trust"),
        ("Safe?", ("No, exit", "Yes, I trust this folder", "Perhaps"), "other"),
        ("external import of a custom API key, Exit plan mode?", ("Yes", "No"), "other"),
        ("Do you want to allow Claude to fetch this content?", ("Yes", "No"), "permission"),
        ("Would you like to proceed with the plan?", ("Yes", "No"), "other"),
    ],
)
def test_what_ib_may_answer_is_known_by_all_of_its_options(said: str, options: tuple[str, ...], which: str) -> None:
    rows = "\n".join(f" {'❯' if at == 1 else ' '} {at}. {option}" for at, option in enumerate(options, 1))
    text = f"{'─' * 60}\n Allow\n\n {said}\n\n{rows}\n\n Enter to confirm · Esc to cancel\n"
    dialog = prompt.read(text).dialog

    assert dialog == Dialog(which, options, 0)


def test_a_number_without_end_is_read() -> None:
    prompt.read(f"{'─' * 60}\n ❯ {'1' * 5000}. Yes\n Enter to confirm\n")


def test_an_older_trust_dialog() -> None:
    text = (
        f"{'─' * 60}\n Do you trust the files in this folder?\n\n /srv/project\n\n"
        " ❯ 1. Yes, proceed\n   2. No, exit\n\n Enter to confirm · Esc to cancel\n"
    )

    assert prompt.read(text).dialog == Dialog("trust", ("Yes, proceed", "No, exit"), 0)


@given(st.text(max_size=400), st.text(max_size=200))
def test_any_text_at_all_is_read(above: str, line: str) -> None:
    prompt.read(above)
    prompt.read(box(above, LINE + line))


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=300))
def test_a_draft_is_never_taken_for_an_empty_line(draft: str) -> None:
    screen = prompt.read(IDLE.replace(LINE, LINE + draft))

    assert not screen.takes_text or not draft.strip() or prompt.PLACEHOLDER.fullmatch(draft.strip())


@given(
    st.text(max_size=300),
    st.sampled_from([path for path in SCREENS if path.name.startswith(("perm", "plan", "trust"))]),
)
def test_no_text_above_a_dialog_hides_it(above: str, path: Path) -> None:
    assert prompt.read(above.replace("\r", "") + "\n" + path.read_text()).kind == "dialog"


@pytest.mark.parametrize("count", [1, 2, 12])
@pytest.mark.parametrize("senders", [["lead"], ["user"], ["a", "b"], ["x" * 40], ["x\n; rm"], []])
def test_the_line_that_wakes(count: int, senders: list[str]) -> None:
    line = wake_line.line(count, senders)

    assert line.isascii()
    assert line.isprintable()
    assert wake_line.is_ours(line)
    assert wake_line.stands(line[:30] + "\n" + line[30:], line)
    assert wake_line.is_ours(line.replace(" ", "\n", 2))
    assert not wake_line.is_ours(line + " and mine")
    assert not wake_line.stands(line + "x", line)


def test_a_placeholder_is_known_by_its_words_in_a_plain_capture() -> None:
    assert prompt.read(IDLE.replace(LINE, LINE + "Press up to edit queued messages")).takes_text
    assert wake_line.pause(0) == 10
    assert wake_line.pause(3) == 80
    assert wake_line.pause(60) == 600
