"""The real client reads and edits a CLAUDE.md while its node is rewritten: it must not notice."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ibstatus.system.text import markers
from tests.peers.claude_md import BLOCK, BOTTOM, TOP, ClaudeMd
from tests.peers.client import Client
from tests.peers.messages_api import MessagesApi, Shown, Turn, nothing, texts

pytestmark = pytest.mark.peer

NEWLINES = pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])


@pytest.fixture
def project(tmp_path: Path) -> Callable[[str], ClaudeMd]:
    def make(name: str) -> ClaudeMd:
        (tmp_path / name).mkdir()
        return ClaudeMd(tmp_path / name / "CLAUDE.md")

    return make


@pytest.fixture
def play(api: MessagesApi, claude: Client) -> Callable[..., Shown]:
    """One session in the folder of this CLAUDE.md: the model does these turns. Returns the last request."""

    def session(file: ClaudeMd, *turns: Turn, more: tuple[str, ...] = ()) -> Shown:
        api.turns[:] = turns
        ran = claude.run(file.path.parent, "Go.", *more)
        assert (ran.code, api.turns) == (0, []), ran
        return api.shown[-1]

    return session


def read(file: ClaudeMd) -> Turn:
    return Turn("Read", {"file_path": str(file.path)})


def edit(file: ClaudeMd, old: str, new: str, meanwhile: Callable[[], None] = nothing) -> Turn:
    return Turn("Edit", {"file_path": str(file.path), "old_string": old, "new_string": new}, meanwhile=meanwhile)


def room_in(shown: Shown) -> list[str]:
    """The lines of the request that hold room of our node, were it only its blanks."""
    lines = "\n".join(text for message in shown.messages for text in texts(message["content"])).splitlines()
    return [line[:80] for line in lines if markers.ROOM.decode() in line or " " * 40 in line]


@NEWLINES
@pytest.mark.parametrize("agents", [5, 60], ids=["same-size", "grown"])
def test_an_edit_works_as_without_us(play, project, newline: str, agents: int) -> None:
    quiet, busy = project("quiet"), project("busy")
    results = []
    for file, update in ((quiet, lambda _: None), (busy, busy.publish)):
        file.begin(newline=newline)
        shown = play(
            file,
            read(file),
            edit(file, "user below", "client", lambda update=update: update(agents)),
            edit(file, "client", "client again", lambda update=update: update(agents + 1)),
        )
        results.append(shown.results)

    assert [[worked for worked, _ in each] for each in results] == [[True] * 3] * 2
    assert [words for _, words in results[1][1:] if "modified" in words] == []
    assert busy.users == quiet.users
    assert b"Text of the client again." in busy.users
    assert busy.agents == min(agents + 1, 50)


def test_edits_beside_updates_that_never_pause(play, project) -> None:
    """A client that opens without waiting may be turned away by the lease and told so; no edit that worked is lost."""
    file = project("racing")
    words = [f"word-{number}" for number in range(8)]
    file.begin(TOP + BLOCK + BOTTOM + "".join(f"{word}.\n" for word in words))
    over = threading.Event()

    def publish() -> int:
        count = 0
        while not over.is_set():
            file.publish(5 + count % 2)
            count += 1
        return count

    with ThreadPoolExecutor(1) as pool:
        published = pool.submit(publish)
        try:
            shown = play(file, read(file), *(edit(file, f"{word}.", f"{word} edited.") for word in words))
        finally:
            over.set()

    assert published.result() > len(words)
    for word, (worked, said) in zip(words, shown.results[1:], strict=True):
        assert worked or "EAGAIN" in said or "modified since read" in said
        assert (f"{word} edited." if worked else f"{word}.\n").encode() in file.users
    file.publish(7)
    assert file.agents == 7


def test_a_file_that_is_written_anew_brings_an_old_node_and_the_next_update_mends_it(play, project) -> None:
    file = project("written")
    file.begin()
    old = file.path.read_text()
    anew = {"file_path": str(file.path), "content": old.replace("user below", "client")}

    shown = play(file, read(file), Turn("Write", anew, meanwhile=lambda: file.publish(5)))

    assert [worked for worked, _ in shown.results] == [True, True]
    assert file.agents == 1
    file.publish(5)
    assert file.agents == 5
    assert file.path.read_text().count("Text of the client.") == 1


@NEWLINES
@pytest.mark.parametrize(
    "text",
    [TOP + BLOCK + BOTTOM, BLOCK.lstrip() + BOTTOM, TOP + BLOCK, TOP + BLOCK.lstrip(), (TOP + BLOCK).rstrip()],
    ids=["middle", "top", "end", "no-empty-line", "no-final-newline"],
)
def test_the_room_costs_no_tokens(play, project, text: str, newline: str) -> None:
    file = project("room")
    file.begin(text, newline)

    shown = play(file, Turn())

    assert "Multi-Agent Orchestration" in shown.memory
    assert "agent-000" in shown.memory
    assert room_in(shown) == []


def test_the_room_costs_no_tokens_in_an_imported_file(play, project) -> None:
    file = project("imported")
    (file.path.parent / "CLAUDE.md").write_text("# The project\n\n@AGENTS.md\n")
    file = ClaudeMd(file.path.with_name("AGENTS.md"))
    file.begin()

    shown = play(file, Turn())

    assert "agent-000" in shown.memory
    assert room_in(shown) == []


def test_a_session_that_goes_on_is_shown_the_newest_node(play, project) -> None:
    file = project("resumed")
    file.begin()
    play(file, Turn())
    file.publish(3)

    shown = play(file, Turn(), more=("--continue",))

    assert "agent-002" in str(shown.messages)
    assert room_in(shown) == []
