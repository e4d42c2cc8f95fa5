"""Each hook answers in the time that it has, by the way that a session takes."""

from pathlib import Path

import pytest

from ibstatus.hooks import entry
from ibstatus.project import paths
from tests.conftest import make_agent
from tests.hooks.conftest import hasty, run_hook
from tests.until import until

LIMITED = [name for name, (fails, *_) in entry.HOOKS.items() if fails in entry.LIMIT]
PAYLOAD = {"session_id": "s1", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}}


@pytest.mark.parametrize("name", LIMITED)
def test_a_hook_answers_in_its_time(repo: paths.Place, name: str) -> None:
    make_agent(repo, "w1")
    log = Path(repo.home, "hooks.log")

    def answers() -> bool:
        log.unlink(missing_ok=True)
        with hasty():
            done = run_hook(repo, name, PAYLOAD)
        assert done.code == 0
        return not log.exists() or "Late" not in log.read_text()

    until(answers)
