"""The plain shape of the hot commands, recognised without click. What is not plain is None, and click decides.

Whatever is recognised here click reads in the same way (tests/cli/test_plain.py holds the two together).
"""

HOT = frozenset(("notify", "send", "acknowledge", "ack", "log"))
TAKES_VALUE = {
    "notify": {"--from": "claimed", "--type": "kind"},
    "send": {"--from": "claimed"},
    "log": {"--id": "agent"},
}
MAY_BE_EMPTY = "claimed"  # hooks call what has it, with whatever they have; of any other click says that it is empty
SWITCHES = {"log": {"-q": "quiet", "--quiet": "quiet"}}


class Call:
    """A command with its options and its words."""

    __slots__ = ("name", "options", "words")

    def __init__(self, name: str, options: dict[str, str], words: list[str]) -> None:
        self.name = name
        self.options = options
        self.words = words


def recognised(argv: list[str]) -> Call | None:
    name = argv[0] if argv else ""
    if name not in HOT:
        return None
    name = "acknowledge" if name == "ack" else name
    valued, switches = TAKES_VALUE.get(name, {}), SWITCHES.get(name, {})
    options: dict[str, str] = {}
    words: list[str] = []
    at = 1
    while at < len(argv):
        word = argv[at]
        if word in valued and at + 1 < len(argv) and not argv[at + 1].startswith("-"):
            at += 1
            if not argv[at].strip() and valued[word] != MAY_BE_EMPTY:
                return None
            options[valued[word]] = argv[at]
        elif word in switches:
            options[switches[word]] = "yes"
        elif word.startswith("-"):
            return None
        else:
            words.append(word)
        at += 1
    enough = 2 if name == "send" else 1
    return Call(name, options, words) if len(words) >= enough else None
