"""How full an agent's context is, by the last answer in the end of its transcript."""

from typing import Any

from ibstatus.system import jsonl

WINDOW, LARGE = 200_000, 1_000_000
PARTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
TAIL = 1 << 18


def percent(data: bytes, model: str = "") -> float | None:
    """`data`: whole lines, the end of a transcript. None when it says nothing of it."""
    for raw in reversed(data.split(b"\n")):
        if b'"compact_boundary"' in raw and is_boundary(raw):
            return 0.0  # nothing was answered since
        found = used(raw) if b'"usage"' in raw else None
        if found is not None:
            tokens, answered = found
            large = "[1m]" in model.lower() or "[1m]" in answered.lower() or tokens > WINDOW
            return tokens * 100 / (LARGE if large else WINDOW)
    return None


def decoded(raw: bytes) -> dict[str, Any]:
    try:
        value = jsonl.decode(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def is_boundary(raw: bytes) -> bool:
    return decoded(raw).get("subtype") == "compact_boundary"


def used(raw: bytes) -> tuple[int, str] | None:
    """(tokens, model) of an answer of the agent itself."""
    entry = decoded(raw)
    message = entry.get("message")
    if entry.get("type") != "assistant" or entry.get("isSidechain") is True or not isinstance(message, dict):
        return None
    usage, model = message.get("usage"), message.get("model")
    if not isinstance(usage, dict) or model == "<synthetic>":
        return None
    counts = [value for key in PARTS if isinstance(value := usage.get(key), int) and not isinstance(value, bool)]
    return sum(max(0, count) for count in counts), model if isinstance(model, str) else ""
