"""What a captured screen says of a session, and which rules were tried for it."""

import re
import sys

from ibstatus.errors import IbError, UsageError, refused
from ibstatus.rules import screen_states
from ibstatus.rules.screen_asks import harmless
from ibstatus.rules.screen_states import Shown, Tried
from ibstatus.store import disk, places, screen_rules

VERSION = re.compile(r"v?(\d{1,9}(?:\.\d{1,9}){1,3})(?: .*)?")


def state(file: str, client: str) -> tuple[Shown, list[str]]:
    """The answer, and how it came about: where our rules stand and the kind of screen, then a line for each rule that
    was tried."""
    version = version_of(client)
    rules, text = screen_rules.of(place()), content(file)
    screen_rules.shown(text, rules, version)
    rules = screen_rules.without_slow(rules)
    if rules.broken:
        wrong = rules.broken[0]
        more = f" (and {len(rules.broken) - 1} more)" if len(rules.broken) > 1 else ""
        raise IbError(
            f"{wrong.path} cannot be used{f', line {wrong.line}' if wrong.line else ''}{more}",
            cause=wrong.why,
            hint="mend it; until then what is wrong in it is left out everywhere else",
        )
    found, tried, layouts = screen_states.explained(text, rules, version)
    kind = "screen: " + ", ".join(sorted(layouts - {"any"})) if layouts else "screen: empty"
    return found, [
        f"rules: {screen_rules.SHIPPED}",
        kind,
        *map(line_of, tried),
        *([] if found.rule != "none" else ["no rule fits"]),
    ]


def version_of(client: str) -> str:
    """As it was given, or as `claude --version` prints it."""
    found = VERSION.fullmatch(client.strip())
    if client and found is None:
        raise UsageError(f"{client!r} is no version of the client", hint="ib parse-state --client 2.1.326")
    return found[1] if found else ""


def place() -> places.Place | None:
    """The rules of a repository count inside of it; elsewhere the user's."""
    try:
        return places.here()
    except IbError:
        return None


def content(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == "-" else disk.read_file(file)
    except OSError as error:
        raise refused(f"read {file}", error) from error
    return data.decode("utf-8", "replace")


def line_of(tried: Tried) -> str:
    rule = tried.rule
    where = f"tail {rule.tail}" if rule.where == "tail" else rule.where if rule.match else rule.on
    source = f" [{rule.source}]" if rule.source else ""
    if not tried.fits:
        return f"  no   {rule.name} ({where}){source}"
    return f"  yes  {rule.name} ({where}){source}: {harmless(tried.line) or 'always'}"


def told(found: Shown) -> list[str]:
    """What else the rule says, a line each."""
    said = (("rule", found.rule), ("reason", found.reason), ("asks", found.asks), ("idle", "yes" if found.idle else ""))
    return [f"{name}: {value}" for name, value in said if value]
