"""Run as a script by absolute path, never imported: a script is not cached, so all of the work is elsewhere."""

import sys

sys.path.insert(0, __file__[: -len("/ibstatus/hooks/stub.py")])

from ibstatus.hooks import entry

entry.main(sys.argv[1:])
