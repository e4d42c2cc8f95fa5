"""A Messages API on loopback: it answers what a test told it to answer and keeps what it was shown."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Json = dict[str, Any]


def nothing() -> None:
    """What happens meanwhile, when nothing does."""


class Turn(NamedTuple):
    """What the model does next; `meanwhile` runs before the answer is given, while the client waits for it."""

    tool: str = ""
    input: Json = {}  # noqa: RUF012 - never written to
    words: str = "Done."
    meanwhile: Callable[[], None] = nothing

    def block(self, number: int) -> Json:
        if self.tool:
            return {"type": "tool_use", "id": f"toolu_{number:024}", "name": self.tool, "input": self.input}
        return {"type": "text", "text": self.words}


class Shown(NamedTuple):
    """One request of the agent loop."""

    messages: list[Json]

    @property
    def memory(self) -> str:
        """What the client put before the first prompt, CLAUDE.md among it."""
        return "\n".join(texts(self.messages[0]["content"]))

    @property
    def newest(self) -> str:
        """Everything behind the model's last answer."""
        answers = [number for number, message in enumerate(self.messages) if message["role"] == "assistant"]
        return "\n".join(
            text for message in self.messages[max(answers, default=-1) + 1 :] for text in texts(message["content"])
        )

    @property
    def results(self) -> list[tuple[bool, str]]:
        """Of every tool the model has called: whether it worked, and what it said."""
        blocks = [
            block
            for message in self.messages
            if message["role"] == "user" and isinstance(message["content"], list)
            for block in message["content"]
            if block["type"] == "tool_result"
        ]
        return [(not block.get("is_error", False), "\n".join(texts(block["content"]))) for block in blocks]


def texts(content: str | list[Json]) -> Iterator[str]:
    if isinstance(content, str):
        yield content
        return
    for block in content:
        if block["type"] == "text":
            yield block["text"]
        elif block["type"] == "tool_result":
            yield from texts(block.get("content") or "")


class MessagesApi:
    """`turns` are given in their order, then plain words; `shown` and `strangers` are what came in."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.shown: list[Shown] = []
        self.strangers: list[str] = []
        self.failures: list[BaseException] = []
        self.url = ""

    def answer(self, request: Json) -> Json:
        """A request without tools is a call that the client makes for itself, such as one for a title."""
        turn = Turn()
        if request.get("tools"):
            self.shown.append(Shown(request["messages"]))
            turn = self.turns.pop(0) if self.turns else turn
            try:
                turn.meanwhile()
            except BaseException as failure:
                self.failures.append(failure)
        return {
            "id": f"msg_{len(self.shown):024}",
            "type": "message",
            "role": "assistant",
            "model": request["model"],
            "content": [turn.block(len(self.shown))],
            "stop_reason": "tool_use" if turn.tool else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }


def as_events(message: Json) -> Iterator[Json]:
    """The message the way it is streamed: its one block in one piece."""
    block = message["content"][0]
    if block["type"] == "tool_use":
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    else:
        empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    yield {"type": "content_block_start", "index": 0, "content_block": empty}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": message["usage"]}
    yield {"type": "message_stop"}


class Handler(BaseHTTPRequestHandler):
    """It is the proxy of the client too: whatever is meant for another machine ends here and is noted."""

    protocol_version = "HTTP/1.1"
    api: MessagesApi

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.partition("?")[0]
        if path == "/v1/messages":
            request = json.loads(body)
            message = self.api.answer(request)
            self.stream(message) if request.get("stream") else self.give(200, message)
        elif path == "/v1/messages/count_tokens":
            self.give(200, {"input_tokens": 1})
        else:
            self.refuse()

    def refuse(self) -> None:
        if not self.path.startswith("/"):
            self.api.strangers.append(f"{self.command} {self.path}")
        self.give(404, {"type": "error", "error": {"type": "not_found_error", "message": "not here"}})

    do_GET = do_HEAD = do_PUT = do_CONNECT = refuse

    def give(self, status: int, answer: Json) -> None:
        self.send(status, "application/json", json.dumps(answer).encode())

    def stream(self, message: Json) -> None:
        events = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in as_events(message))
        self.send(200, "text/event-stream", "".join(events).encode())

    def send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@contextmanager
def serving() -> Iterator[MessagesApi]:
    api = MessagesApi()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"api": api}))
    server.daemon_threads = True
    api.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
