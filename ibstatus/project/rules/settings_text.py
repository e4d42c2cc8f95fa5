"""Settings as people read them: their values, and what is odd in a file."""

from ibstatus.project.settings import ALL, KEYS, LIST, SECTIONS, Key, Layer, found, taken
from ibstatus.system import jsonl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# In a URL any letter may stand as its code.
PASSWORD = "".join(f"(?:{letter}|%{ord(letter):x}|%{ord(letter.upper()):x})" for letter in "password")


def bare(value: "Any") -> str:
    """For scripts: a string as it is, anything else as JSON, nothing when unset."""
    if value is None:
        return ""
    return value if isinstance(value, str) else jsonl.encode(value)


def shown(key: Key, value: "Any") -> str:
    """For people: a password in an address is not shown."""
    if value is None or value == "":
        return "(unset)"
    value = public(key, value)
    return printable(value) if isinstance(value, str) else jsonl.encode(value)


def printable(text: str) -> str:
    """Nothing from a file reaches a terminal as a command to it."""
    return text if text.isprintable() else jsonl.encode(text)


def public(key: "Key | None", value: "Any") -> "Any":
    """The value as it may be printed: without a password."""
    return masked(value) if key is not None and key.name == "board.dsn" and isinstance(value, str) else value


def masked(dsn: str) -> str:
    """Both forms that Postgres takes: postgres://user:secret@host/db and `host=… password=secret`; of what is neither,
    rather too much is hidden than too little."""
    import re

    begin, _, rest = dsn.partition(":")
    login, at, host = rest.rpartition("@")
    if at:
        slashes, user = login[: len(login) - len(login.lstrip("/"))], login.lstrip("/").partition(":")
        dsn = f"{begin}:{slashes}{user[0]}:***@{host}" if slashes == "//" and user[1] else dsn
        dsn = dsn if slashes == "//" else f"{begin}:***@{host}"
    return re.sub(rf"(?i)({PASSWORD}\s*=\s*)(?:'(?:[^'\\]|\\.)*'|.*?)(?=&|#|\s+\w+\s*=|\s*$)", r"\1***", dsn)


def problems(layer: Layer) -> list[str]:
    """What is odd in one file, a sentence each: unknown keys, and values that cannot be."""
    return [f"{layer.path}: {text}" for text in (*strays(layer.values, ""), *wrong(layer.values))]


def wrong(values: "dict[str, Any]") -> list[str]:
    texts = []
    for key in ALL:
        there, raw = found(values, key.path)
        value, complaint = taken(key, raw) if there else (None, "")
        if complaint:
            instead = "the rest of it" if key.kind == LIST else f"the default ({shown(key, value)})"
            texts.append(f"{key.name} {complaint}; {instead} is used")
    return texts


def strays(values: "dict[str, Any]", above: str) -> list[str]:
    """Names that no key has. A section that holds something else than keys is one as well."""
    texts = []
    for part, value in values.items():
        name = above + part
        if name in KEYS and "." not in part:
            continue
        if name in SECTIONS and "." not in part:
            if isinstance(value, dict):
                texts += strays(value, name + ".")
            elif value is not None:
                texts.append(f"{name} must be an object; it is ignored")
            continue
        texts.append(unknown(name, dotted="." in part))
    return texts


def unknown(name: str, dotted: bool = False) -> str:
    if dotted and name in KEYS:
        return f"{printable(name)} is taken only as objects, one in the other; ib config set {name} writes it so"
    near = nearest(name)
    return f"ib knows no key {printable(name)}" + (f" (did you mean {near}?)" if near else "")


def nearest(name: str) -> str:
    """The key that was probably meant, or ''."""
    import difflib

    wanted = name.lower()
    leaf = wanted.rpartition(".")[2]
    for known in KEYS:
        if known.lower() == wanted or known.lower().rpartition(".")[2] == leaf:
            return known
    by_lower = {known.lower(): known for known in (*KEYS, *SECTIONS)}
    by_lower |= {known.lower().rpartition(".")[2]: known for known in KEYS if known.count(".") == 1}
    close = difflib.get_close_matches(wanted, by_lower, 1, 0.7)
    return by_lower[close[0]] if close else ""
