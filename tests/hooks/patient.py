"""The stub, where a hook has all the time that a slow machine needs. That it gives up in time is the stub's to show."""

import sys

PATIENCE = 50.0


def be_patient(hook: str) -> None:
    """In this process; loads no more than the hook does."""
    from ibstatus.hooks import entry

    entry.LIMIT = dict.fromkeys(entry.LIMIT, PATIENCE)
    if hook == "permission-request":
        from ibstatus.hooks import permission_request

        permission_request.PATIENCE = PATIENCE
    if hook == "notify-tmux":
        from ibstatus.titles import tmux_window

        tmux_window.run.__defaults__ = (PATIENCE / 2,)


if __name__ == "__main__":
    sys.path.insert(0, __file__[: -len("/tests/hooks/patient.py")])
    be_patient("".join(sys.argv[1:2]))
    from ibstatus.hooks import entry

    entry.main(sys.argv[1:])
