"""A model behind real HTTP that keeps its own record of what it was shown and whether its answers were waited for."""

from __future__ import annotations

import json
import random
import re
import select
import socket
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MARK = re.compile(r"\bmark:([\w-]+)/([\w-]+)")
_RANGE = re.compile(r"The transcript of messages (\d+) to (\d+)")
_LABEL = re.compile(r"^\[(\d+)\] ", re.MULTILINE)


@dataclass(slots=True)
class Call:
    """One call as the model saw it. ``port`` is the caller's; ``state``: open, answered, or broken (nobody waited)."""

    kind: str
    port: int
    thread: str = ""
    first: int = 0
    last: int = 0
    seqs: tuple[int, ...] = ()
    marks: frozenset[str] = frozenset()
    state: str = "open"
    killed: bool = False


@dataclass
class ModelServer:
    """Answers every chat completion after a while, so that kills strike in the middle of calls."""

    chance: random.Random = field(default_factory=random.Random)
    delays: tuple[float, float] = (0.7, 2.0)
    calls: list[Call] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.model = self
        threading.Thread(target=self._http.serve_forever, name="model", daemon=True).start()

    @property
    def url(self) -> str:
        """The base URL of the API."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def begin(self, body: dict[str, Any], port: int) -> Call:
        """Note what a call shows."""
        call = _seen(body, port)
        with self.lock:
            self.calls.append(call)
        return call

    def delay(self) -> float:
        """How long the next answer takes, in seconds."""
        with self.lock:
            return self.chance.uniform(*self.delays)

    def open_calls(self) -> list[Call]:
        """The calls that wait for their answer now."""
        with self.lock:
            return [call for call in self.calls if call.state == "open"]

    def close(self) -> None:
        """Answer nobody any more."""
        self._http.shutdown()
        self._http.server_close()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    model: ModelServer

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: callers are killed all the time."""


class _Handler(BaseHTTPRequestHandler):
    server: _Http

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        model = self.server.model
        call = model.begin(body, self.client_address[1])
        call.state = "broken" if _hung_up(self.connection, model.delay()) else "answered"
        if call.state == "broken":
            self.close_connection = True
            return
        try:
            self._answer(call)
        except OSError:
            call.state = "broken"

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""

    def _answer(self, call: Call) -> None:
        content = json.dumps(_completion(_words(call))).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _hung_up(connection: socket.socket, seconds: float) -> bool:
    """Wait, but no longer than the caller does; whether it went away first."""
    readable, _, _ = select.select([connection], [], [], seconds)
    if not readable:
        return False
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except OSError:
        return True


def _seen(body: dict[str, Any], port: int) -> Call:
    blocks = [str(message["content"]) for message in body["messages"]]
    found = _RANGE.search(blocks[-1])
    if found is None:
        return Call("reflect", port)
    marks = [match.groups() for match in MARK.finditer(blocks[-1])]
    seqs = tuple(int(seq) for seq in _LABEL.findall(blocks[-1]))
    threads = {thread for thread, _ in marks}
    return Call(
        "observe",
        port,
        thread=",".join(sorted(threads)),
        first=int(found[1]),
        last=int(found[2]),
        seqs=seqs,
        marks=frozenset(f"{thread}/{message}" for thread, message in marks),
    )


def _words(call: Call) -> str:
    if call.kind == "reflect":
        return "<observations>\nDate: Jan 5, 2026\n* 🔴 (10:00) the log so far, condensed\n</observations>"
    lines = [
        f"* 🔴 (10:00) noted what {call.thread} said from {call.first} to {call.last} [{call.first}-{call.last}]",
        f"* 🟡 (10:01) counted {call.last - call.first + 1} messages there [{call.last}]",
    ]
    return "<observations>\nDate: Jan 5, 2026\n" + "\n".join(lines) + "\n</observations>"


def _completion(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
