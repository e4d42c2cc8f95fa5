"""What git is told so that our lines stay out of commits: a clean filter of plain sed, and the path it is bound to.

A block that is marked local goes whole, of any other only its node; what is not closed, opened twice, or an example
without our padding passes through.
"""

from ibstatus.system.text import markers

NAME = "ittybitty"
KEY = f"filter.{NAME}.clean"
ATTRIBUTES = ("filter", "working-tree-encoding", "ident")

# The hold space has what was read since the marker; a label a state. Nothing is searched twice, so a marker that is
# never closed costs no more than any other text. `n` stands behind a `$` check: at the end it would print or drop.
HELD_THEN_LINE = "x;p;x"
ALL_PASSES = (r"${", "x;p;x;p;d", "}")
OPEN_BLOCK = "/^<ittybitty>[[:space:]]*$/"
CLOSE_BLOCK = r"/^<\/ittybitty>[[:space:]]*$/"
ANY_BLOCK = r"/^<\/*ittybitty>[[:space:]]*$/"
OPEN_NODE = "/^<ittybitty-status>[[:space:]]*$/"
CLOSE_NODE = r"/^<\/ittybitty-status>[[:space:]]*$/"
BROKEN_OFF = (
    *(OPEN_NODE + "{", HELD_THEN_LINE, "b node", "}"),
    *(ANY_BLOCK + "{", HELD_THEN_LINE, "b text", "}"),
    *ALL_PASSES,
    *("H", "n"),
)
SED = (
    ":text",
    *(OPEN_BLOCK + "b block", OPEN_NODE + "b node", "p;d"),
    ":block",
    *("${", "p;d", "}", "h;n", "/^<!-- ib:local/b local", HELD_THEN_LINE, "b text"),
    ":local",
    *(CLOSE_BLOCK + "d", OPEN_BLOCK + "{", HELD_THEN_LINE, "b block", "}", *ALL_PASSES, "H;n", "b local"),
    ":node",
    *("${", "p;d", "}", "h;n"),
    ":inside",
    *(CLOSE_NODE + "{", "x;p;x;p;d", "}", "/^<!-- ib:room/b ours", *BROKEN_OFF, "b inside"),
    ":ours",
    *(CLOSE_NODE + "d", *BROKEN_OFF, "b ours"),
)
CLEAN = "LC_ALL=C sed -n " + " ".join(f"-e '{command}'" for command in SED)

LOCAL_PROBE = (b"<ittybitty>", b"<!-- ib:local -->", b"probe", b"</ittybitty>")
NODE_PROBE = (b"<ittybitty-status>", b"{}", b"<!-- ib:room  -->", b"</ittybitty-status>")


def section(clean: str = CLEAN) -> str:
    """What is appended to git's config: two lines."""
    return f'[filter "{NAME}"]\n\tclean = {quoted(clean)}'


def quoted(value: str) -> str:
    """A value of a git config file that `git config --get` gives back as it was."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'


def binding(path: str) -> str:
    """The line of info/attributes for one path from the root of the checkout."""
    return f"{pattern(path)} filter={NAME}"


def pattern(path: str) -> str:
    """For info/attributes: what it could misread is quoted as in C."""
    plain = exact(path)
    if plain.isascii() and not set(' "') & set(plain):
        return plain
    octal = {34: '\\"', 92: "\\\\"}
    return '"' + "".join(octal.get(byte, chr(byte) if byte < 127 else f"\\{byte:03o}") for byte in plain.encode()) + '"'


def exact(path: str) -> str:
    """For info/exclude: this very path from the root, where nothing in its name is a wildcard."""
    text = "/" + "".join("\\" + letter if letter in "*?[\\" else letter for letter in path)
    return text[:-1] + "\\ " if text.endswith(" ") else text


def probed(data: bytes, local: bool) -> bytes:
    """The text with something put in that the filter has to take out again, in the text's own line ends."""
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    put_in = b"".join(line + newline for line in (LOCAL_PROBE if local else NODE_PROBE))
    at = data.rfind(b"\n") + 1  # the end, or before a last line without one
    return data[:at] + put_in + data[at:]


def refusal(attributes: dict[str, str]) -> str:
    """Why git's attributes of the path leave no room for our filter; '' when they do."""
    bound = attributes.get("filter", "unspecified")
    if bound not in ("unspecified", NAME):
        no = "switches filters off" if bound == "unset" else f"already has the filter {bound}"
        return f"an attribute {no} for it"
    for name in ATTRIBUTES[1:]:
        if attributes.get(name, "unspecified") not in ("unspecified", "unset"):
            return f"it has the attribute {name}"
    return ""


def wanted() -> dict[str, str]:
    """What git has to say when it is asked for the settings of our filter."""
    return {KEY: CLEAN}


def bare(data: bytes) -> bytes:
    """The text as git shall see it: without our node, or without the whole block where that is local."""
    spot = spot_in(data)
    ours = None if spot is None else spot.block if spot.local else spot.node
    return data if ours is None else data[: ours.start] + data[ours.end :]


def without_block(data: bytes) -> bytes:
    """What others wrote: all but our block; everything where the block cannot be told from the rest."""
    spot = spot_in(data)
    return data if spot is None else data[: spot.block.start] + data[spot.block.end :]


def is_local(data: bytes) -> bool:
    spot = spot_in(data)
    return spot is not None and spot.local


def holds_ours(data: bytes) -> bool:
    """Is there a block, or something that was meant to be one?"""
    try:
        return markers.find(data) is not None
    except markers.Malformed:
        return True


def spot_in(data: bytes) -> markers.Spot | None:
    try:
        return markers.find(data)
    except markers.Malformed:
        return None
