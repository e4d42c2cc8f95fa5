"""JSON text of the hot path: one object a line, without the `json` package, whose `re` alone costs a third of a start.

`_json` is private to CPython; where it is missing or has changed, `json` does the same work.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What JSON may hold raw but a line reader, a terminal or a log viewer may not.
RISKY = {
    code: f"\\u{code:04x}"
    for code in (*range(0x7F, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}


class Context:
    """What `_json.make_scanner` wants to know."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    array_hook = None  # Python 3.15
    parse_int = int
    memo: "dict[str, str]" = {}  # noqa: RUF012

    @staticmethod
    def parse_float(text: str) -> float:
        number = float(text)
        if number - number:
            raise ValueError(f"{text} is out of range")
        return number

    @staticmethod
    def parse_constant(word: str) -> None:
        raise ValueError(f"{word} is no JSON")


def hot_json() -> "tuple[Any, Any]":
    """(scan, chunks) of CPython's own accelerator, tried out before it is trusted."""
    from _json import encode_basestring, make_encoder, make_scanner

    context: Any = Context
    make: Any = make_encoder
    chunks = make(None, None, encode_basestring, None, ":", ",", False, False, False)
    if "".join(chunks({"a": [1, "b", None]}, 0)) != '{"a":[1,"b",null]}':
        raise ImportError
    return make_scanner(context), chunks


def slow_json() -> "tuple[Any, Any]":
    """The same two from the json package."""
    import json

    decoder: Any = json.JSONDecoder(
        strict=False, parse_float=Context.parse_float, parse_constant=Context.parse_constant
    )

    def chunks(value: "Any", depth: int) -> "tuple[str, ...]":
        return (json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False),)

    return decoder.scan_once, chunks


try:
    scan, chunks = hot_json()
except Exception:  # another Python
    scan, chunks = slow_json()


BLANK = " \t\r\n"


def decode(text: str) -> "Any":
    """One JSON value and nothing else; ValueError otherwise."""
    start = len(text) - len(text.lstrip(BLANK))
    try:
        value, end = scan(text, start)
    except SystemError:  # the accelerator can name a syntax error only where json.decoder is loaded
        import json.decoder  # noqa: F401

        return decode(text)
    except StopIteration as stop:
        raise NotJson("a value was expected", stop.value or 0) from None
    except RecursionError:
        raise NotJson("nested too deeply", 0) from None
    except ValueError as error:
        raise NotJson(str(getattr(error, "msg", error)), getattr(error, "pos", 0)) from None
    if text[end:].strip(BLANK):
        raise NotJson("more text after the value", end)
    return value


class NotJson(ValueError):
    def __init__(self, why: str, at: int) -> None:
        super().__init__(why)
        self.why = why
        self.at = at


def encode(value: "Any") -> str:
    """Compact JSON on one line; every character that could break the line or the terminal is escaped."""
    text = "".join(chunks(value, 0))
    if text.isascii() and "\x7f" not in text:
        return text
    text = text.translate(RISKY)
    return text if is_unicode(text) else "".join([f"\\u{ord(c):04x}" if is_lone(c) else c for c in text])


def is_lone(character: str) -> bool:
    """Half of a surrogate pair: JSON may name it (`\\ud83d`, an emoji cut in two), no encoding can hold it."""
    return "\ud800" <= character <= "\udfff"


def is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def clean(text: str) -> str:
    """Text from argv or a pipe without lone surrogates: bytes that are no UTF-8 become the replacement character."""
    if is_unicode(text):
        return text
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:
        return "".join(["\ufffd" if is_lone(c) else c for c in text])


def items(values: "list[Any]") -> str:
    """A JSON array with an item a line, for files that people open."""
    if not values:
        return "[]\n"
    return "[\n  " + ",\n  ".join([encode(value) for value in values]) + "\n]\n"
