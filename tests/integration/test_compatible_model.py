"""The official SDK over real HTTP against a server that speaks OpenAI's chat completions."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from om_workers.adapters.models.compatible import CompatibleModel
from om_workers.engine.prompts import Prompt
from om_workers.engine.retry import Outcome
from om_workers.ports.model import ModelError, ModelRequest, ObserverInput
from tests.services.waiting import wait_until


@dataclass
class Server:
    """A server that answers every call with ``status`` and ``body``; with ``hold`` it waits until that is set."""

    url: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    seen: list[dict[str, Any]] = field(default_factory=list)
    hold: threading.Event | None = None


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server(body=answer("<observations>\n* 🔴 hi [1]\n</observations>"))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            state.seen.append(json.loads(self.rfile.read(length)) | {"path": self.path})
            if state.hold is not None:
                state.hold.wait(20)
            content = json.dumps(state.body).encode()
            self.send_response(state.status)
            for name, value in {**state.headers, "Content-Type": "application/json"}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_arguments: object) -> None:
            """Say nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{http.server_port}/v1"
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    yield state
    http.shutdown()
    http.server_close()


def answer(text: str, finish: str = "stop") -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    usage = {"prompt_tokens": 12, "completion_tokens": 7, "total_tokens": 19}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def request(timeout_seconds: float = 10) -> ModelRequest:
    return ModelRequest(
        model="compatible:mine/my-model",
        kind="observe",
        prompt=Prompt("be dense", ("first", "second")),
        material=ObserverInput([]),
        call_id="call-1",
        job_id="job",
        attempt=1,
        timeout_seconds=timeout_seconds,
        temperature=0.3,
    )


def test_an_answer_comes_with_its_usage_and_the_prompt_arrives_whole(server: Server) -> None:
    reply = CompatibleModel(server.url, "key").generate(request())
    assert (reply.finish, reply.input_tokens, reply.output_tokens) == ("stop", 12, 7)
    assert "hi [1]" in reply.text
    (seen,) = server.seen
    assert (seen["path"], seen["model"]) == ("/v1/chat/completions", "my-model")
    assert [message["content"] for message in seen["messages"]] == ["be dense", "first", "second"]


def test_an_answer_that_hit_the_output_limit_says_so(server: Server) -> None:
    server.body = answer("half", finish="length")
    assert CompatibleModel(server.url, "key").generate(request()).finish == "length"


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (401, Outcome.AUTH),
        (404, Outcome.AUTH),
        (429, Outcome.RATE_LIMITED),
        (413, Outcome.TOO_LARGE),
        (500, Outcome.TRANSPORT),
    ],
)
def test_a_refusal_of_the_server_has_its_class_and_is_not_tried_again_by_the_sdk(
    server: Server, status: int, outcome: Outcome
) -> None:
    server.status, server.body, server.headers = status, {"error": {"message": "no"}}, {"Retry-After": "7"}
    with pytest.raises(ModelError) as error:
        CompatibleModel(server.url, "key").generate(request())
    assert error.value.outcome is outcome
    assert error.value.retry_after_seconds == (7 if status == 429 else None)
    assert len(server.seen) == 1


def test_a_call_that_takes_too_long_ends(server: Server) -> None:
    server.hold = threading.Event()
    with pytest.raises(ModelError) as error:
        CompatibleModel(server.url, "key").generate(request(timeout_seconds=0.3))
    server.hold.set()
    assert error.value.outcome is Outcome.TRANSPORT


def test_a_server_that_is_not_there_is_a_transport_error() -> None:
    with pytest.raises(ModelError) as error:
        CompatibleModel("http://127.0.0.1:1/v1", "key").generate(request())
    assert error.value.outcome is Outcome.TRANSPORT


def test_cancelling_a_call_that_is_over_does_nothing(server: Server) -> None:
    model = CompatibleModel(server.url, "key")
    model.generate(request())
    model.cancel("call-1")
    wait_until(lambda: len(server.seen) == 1, 5, what="the one call")
