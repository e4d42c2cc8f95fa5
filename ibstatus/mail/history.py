"""The life of one message, read from the events: queued, rung, offered, confirmed, acknowledged."""

from typing import Any

WORDS = {
    "message.queued": "queued",
    "message.rung": "rung",
    "message.offered": "offered",
    "message.confirmed": "confirmed",
    "message.acknowledged": "acknowledged",
    "question.asked": "asked",
    "question.answered": "answered",
    "question.acknowledged": "acknowledged",
}


def concerns(event: dict[str, Any], item: str) -> bool:
    ids = event.get("ids")
    return event.get("id") == item or (isinstance(ids, list) and item in ids)


def life(events: list[dict[str, Any]], item: str) -> list[dict[str, Any]]:
    """Its steps in order, each `{t, step, who, …}`."""
    steps = []
    for event in events:
        word = WORDS.get(str(event.get("kind")))
        if word and concerns(event, item):
            steps.append({"t": event.get("t", ""), "step": word, "who": event.get("who", ""), **details(event)})
    return steps


def details(event: dict[str, Any]) -> dict[str, Any]:
    return {key: event[key] for key in ("type", "bells", "by", "again", "to") if key in event}


def told(step: dict[str, Any]) -> str:
    """A step in words."""
    who, word = step["who"], step["step"]
    if word == "queued":
        to = f" to {step['to']}" if "to" in step else ""
        return f"by {who}{to}" + (f", type {step['type']}" if "type" in step else "")
    if word == "rung" and "by" in step:
        return f"{who}, by its {step['by']}"
    if word == "rung":
        return f"{step.get('bells', 0)} waiting"
    if word == "offered":
        return f"to {who}" + (", again" if step.get("again") else "")
    return f"by {who}"
