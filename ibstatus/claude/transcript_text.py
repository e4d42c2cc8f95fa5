"""Lines of a session's transcript as text for people: prompts, answers, a line a tool call, and what failed.

How full an agent's context is, by the last answer in the end of its transcript.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ibstatus.system import jsonl

LONGEST = 200
# Of a tool's input, what says most of it: the first of these that it has.
TELLING = ("command", "file_path", "notebook_path", "pattern", "url", "query", "description", "prompt", "skill", "path")
UNDER = "  ⎿ "  # what belongs to the line above it
ASIDE = ("<system-reminder>", "<local-command-caveat>", "<command-message>")


def entry(raw: bytes) -> dict[str, Any] | None:
    """None for a line that is torn, or none of a conversation."""
    try:
        value = jsonl.decode(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    aside = not isinstance(value, dict) or value.get("isMeta") is True or value.get("isSidechain") is True
    return None if aside else value


def is_said(raw: bytes) -> bool:
    """A prompt or an answer. The client goes on with no session that has none of them."""
    value = entry(raw)
    return value is not None and value.get("type") in ("user", "assistant")


def text_of(raw: bytes) -> str:
    """What this line of the transcript says, or ''."""
    value = entry(raw)
    if value is None:
        return ""
    if value.get("isCompactSummary") is True:
        return "✻ Conversation compacted\n"
    parts = list(blocks(value))
    return "\n".join(parts) + "\n" if parts else ""


def blocks(value: Mapping[str, Any]) -> Iterator[str]:
    kind, message = value.get("type"), value.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if kind == "attachment":
        kind, content = "user", queued(value.get("attachment"))
    if kind not in ("user", "assistant"):
        return
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for block in content if isinstance(content, list) else ():
        said = of_block(block, kind == "user") if isinstance(block, dict) else ""
        if said:
            yield said


def queued(attached: object) -> object:
    """What was typed while a turn ran stands beside the conversation."""
    known = attached if isinstance(attached, dict) else {}
    return known.get("prompt") if known.get("type") == "queued_command" else None


def of_block(block: Mapping[str, Any], from_user: bool) -> str:
    kind, text = block.get("type"), block.get("text")
    if kind == "text" and isinstance(text, str) and text.strip():
        return prompt(text) if from_user else indented("● ", text.strip())
    if kind == "tool_use":
        return f"● {block.get('name')}({summary(block.get('input'))})"
    if kind == "tool_result" and block.get("is_error") is True:
        return f"{UNDER}Error: {one_line(result(block.get('content')))}"
    return ""


def prompt(text: str) -> str:
    if "<command-name>" in text:
        return f"❯ {tagged(text, 'command-name')} {tagged(text, 'command-args')}".rstrip()
    if text.startswith("<bash-input>"):
        return f"❯ ! {tagged(text, 'bash-input')}"
    if text.startswith("<bash-stdout>"):
        out = f"{tagged(text, 'bash-stdout')} {tagged(text, 'bash-stderr')}".strip()
        return f"{UNDER}{one_line(out)}" if out else ""
    return "" if text.lstrip().startswith(ASIDE) else indented("❯ ", text.strip())


def tagged(text: str, name: str) -> str:
    return text.partition(f"<{name}>")[2].partition(f"</{name}>")[0].strip()


def indented(mark: str, text: str) -> str:
    return mark + "\n".join(("  " + line if at and line else line) for at, line in enumerate(text.split("\n")))


def summary(given: object) -> str:
    if not isinstance(given, dict):
        return ""
    asked = given.get("questions")
    if isinstance(asked, list) and asked and isinstance(asked[0], dict):
        given = {**asked[0], "query": asked[0].get("question")}
    found = next((given[key] for key in TELLING if isinstance(given.get(key), str)), "")
    return one_line(found)


def result(content: object) -> str:
    if isinstance(content, str):
        return content
    found = content if isinstance(content, list) else []
    return " ".join(str(block.get("text", "")) for block in found if isinstance(block, dict))


def one_line(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= LONGEST else words[:LONGEST] + "…"


INTERRUPTED = "[Request interrupted by user"
LIMITS = ("rate_limit", "rate_limit_error")


def ending(tail: bytes) -> tuple[str, str, str, str] | None:
    """(state, reason, when, what was read) of the last entry of a conversation, where that ended its turn without a
    hook; state '' when it did not. None when nothing can be read. The first line may be torn."""
    for raw in reversed(tail.split(b"\n")):
        value = entry(raw) if raw.strip() else None
        if value is None or value.get("type") not in ("user", "assistant"):
            continue
        said, when = one_line(" ".join(plain(value))), value.get("timestamp")
        at = when if isinstance(when, str) else ""
        if value.get("type") == "user" and said.startswith(INTERRUPTED):
            return "waiting", "input", at, "interrupted"
        if value.get("isApiErrorMessage") is True:
            if value.get("error") in LIMITS:
                return "rate_limited", "", at, said
            return "waiting", "error: " + one_line(str(value.get("error") or said)), at, said
        return "", "", at, "its last entry ends no turn"
    return None


def plain(value: Mapping[str, Any]) -> Iterator[str]:
    """The texts of one entry, as they are."""
    message = value.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else ():
        text = block.get("text") if isinstance(block, dict) else None
        if isinstance(text, str):
            yield text


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
