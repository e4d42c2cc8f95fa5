"""The stub, where a hook has all the time that a slow machine needs. That it gives up in time is the stub's to show."""

import sys

sys.path.insert(0, __file__[: -len("/tests/hooks/patient.py")])

from ibstatus.hooks import entry

PATIENCE = 50.0

entry.LIMIT = dict.fromkeys(entry.LIMIT, PATIENCE)
if sys.argv[1:2] == ["permission-request"]:
    from ibstatus.hooks import permission_request

    permission_request.PATIENCE = PATIENCE
if sys.argv[1:2] == ["notify-tmux"]:
    from ibstatus.drivers import window_titles

    window_titles.run.__defaults__ = (PATIENCE / 2,)
entry.main(sys.argv[1:])
