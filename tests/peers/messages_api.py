"""A Messages API on loopback: it answers what a test told it to answer and keeps what it was shown."""

import json
import select
import sys
import threading
import time
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
    beside: tuple["Turn", ...] = ()  # further blocks of the same answer
    status: int = 200  # another one: the request fails with it
    pace: float = 0.0  # seconds between the words of the answer
    silent: bool = False  # no answer comes: somebody has to press Esc

    def blocks(self, number: int) -> list[Json]:
        return [turn.block(f"{number:020}{place:04}") for place, turn in enumerate((self, *self.beside))]

    def block(self, name: str) -> Json:
        if self.tool:
            return {"type": "tool_use", "id": f"toolu_{name}", "name": self.tool, "input": self.input}
        return {"type": "text", "text": self.words}


class Shown(NamedTuple):
    """One request of the agent loop: when it came, whose it was. `agent` is '' unless a subagent asks."""

    messages: list[Json]
    session: str = ""
    agent: str = ""
    at: float = 0.0
    tools: frozenset[str] = frozenset()

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
    def whole(self) -> str:
        return "\n".join(text for message in self.messages for text in texts(message["content"]))

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
    """`turns` are given in their order, then plain words; `shown` and `strangers` are what came in.

    A session in `scripts` has turns of its own, and so have `subagents`; what `rule` answers goes before them all.
    """

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.scripts: dict[str, list[Turn]] = {}
        self.subagents: list[Turn] = []
        self.rule: Callable[[Shown], Turn | None] = lambda shown: None
        self.shown: list[Shown] = []
        self.of_subagents: list[Shown] = []
        self.strangers: list[str] = []
        self.failures: list[BaseException] = []
        self.url = ""
        self.count = 0
        self.lock = threading.Lock()

    def answer(self, request: Json, headers: dict[str, str]) -> tuple[Turn, Json]:
        """A request without tools is a call that the client makes for itself, such as one for a title."""
        turn = Turn()
        if is_of_the_loop(request):
            turn = self.next(request, headers)
            try:
                turn.meanwhile()
            except BaseException as failure:
                self.failures.append(failure)
        with self.lock:
            self.count += 1
        blocks = turn.blocks(self.count)
        return turn, {
            "id": f"msg_{self.count:024}",
            "type": "message",
            "role": "assistant",
            "model": request["model"],
            "content": blocks,
            "stop_reason": "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }

    def next(self, request: Json, headers: dict[str, str]) -> Turn:
        """Keep what was asked, and choose what the model does."""
        shown = Shown(
            request["messages"],
            headers.get("x-claude-code-session-id", ""),
            headers.get("x-claude-code-agent-id", ""),
            time.time(),
            frozenset(tool["name"] for tool in request["tools"]),
        )
        with self.lock:
            (self.of_subagents if shown.agent else self.shown).append(shown)
            chosen = self.rule(shown)
            if chosen is not None:
                return chosen
            script = self.subagents if shown.agent else self.scripts.get(shown.session, self.turns)
            return script.pop(0) if script else Turn()

    def of(self, session: str) -> list[Shown]:
        """What this session asked, its subagents left out."""
        return [shown for shown in self.shown if shown.session == session]


ASIDE = ("[SUGGESTION MODE", "CRITICAL: Respond with TEXT ONLY", "create a detailed summary")


def is_of_the_loop(request: Json) -> bool:
    """The client asks for itself too: for titles, suggestions, summaries."""
    if not request.get("tools") or "format" in request.get("output_config", {}):
        return False
    newest = Shown(request["messages"]).newest
    return not any(mark in newest for mark in ASIDE)


def as_events(message: Json) -> Iterator[Json]:
    """The message the way it is streamed: a tool's input in one piece, a text word by word."""
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        if block["type"] == "tool_use":
            empty = {**block, "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        else:
            empty = {**block, "text": ""}
            words = block["text"].split(" ")
            deltas = [
                {"type": "text_delta", "text": word + " " * (at < len(words))} for at, word in enumerate(words, 1)
            ]
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
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
            self.message(json.loads(body))
        elif path == "/v1/messages/count_tokens":
            self.give(200, {"input_tokens": 1})
        else:
            self.refuse()

    def message(self, request: Json) -> None:
        turn, message = self.api.answer(request, {key.lower(): value for key, value in self.headers.items()})
        try:
            if turn.silent:
                self.wait_until_gone()
            elif turn.status != 200:
                error = {"type": "api_error", "message": "as the test wants it"}
                self.give(turn.status, {"type": "error", "error": error})
            elif request.get("stream"):
                self.stream(message, turn.pace)
            else:
                self.give(200, message)
        except OSError:
            self.close_connection = True  # Esc was pressed, or the client is gone

    def wait_until_gone(self) -> None:
        self.close_connection = True
        select.select([self.connection], [], [], 60)

    def refuse(self) -> None:
        if not self.path.startswith("/"):
            self.api.strangers.append(f"{self.command} {self.path}")
        self.give(404, {"type": "error", "error": {"type": "not_found_error", "message": "not here"}})

    do_GET = do_HEAD = do_PUT = do_CONNECT = refuse

    def give(self, status: int, answer: Json) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def stream(self, message: Json, pace: float) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in as_events(message):
            data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            if event["type"] == "content_block_delta":
                time.sleep(pace)
        self.wfile.write(b"0\r\n\r\n")


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client may leave at any time; our own mistakes are to be seen."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


@contextmanager
def serving() -> Iterator[MessagesApi]:
    api = MessagesApi()
    server = Server(("127.0.0.1", 0), type("Bound", (Handler,), {"api": api}))
    api.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
