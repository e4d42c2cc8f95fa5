"""Run as a hook, before whatever the test wants of it: takes the payload in and appends it to a log, with the time."""

import json
import os
import sys
import time

payload = json.loads(sys.stdin.buffer.read() or b"{}")
line = json.dumps({"at": time.time(), "payload": payload}) + "\n"
log = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
os.write(log, line.encode())
