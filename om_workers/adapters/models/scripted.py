"""``scripted/…``: a model that does what a folder of files says, so that tests can steer real workers.

The folder holds ``script.json``: a list of rules ``{"kind"?, "contains"?, "do", "text"?, "finish"?, "outcome"?,
"times"?}``, the first that fits a call and is not used up is followed; none left: ``do`` is ``"note"``. A rule that
``contains`` a text fits prompts with that text only. What a rule can do:

- ``note``: a plain observation naming the range that was seen (or a short reflection)
- ``answer``: exactly ``text``
- ``fail``: raise a model error of class ``outcome``
- ``hang``: wait until a file ``release`` exists, the call is cancelled, or its time is over
- ``die``: kill the process that asked

Every call is appended to ``calls.ndjson`` when it starts, every answer to ``answers.ndjson``.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

from om_workers.engine.retry import Outcome
from om_workers.ports.model import ModelError, ModelReply, ModelRequest, ObserverInput

_POLL_SECONDS = 0.02


class ScriptedModel:
    """Follows the script; safe for many threads and processes on one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._cancelled: set[str] = set()
        self._lock = threading.Lock()

    def generate(self, request: ModelRequest) -> ModelReply:
        """What the script says for this call."""
        seen = _seen(request)
        # The rule is used up before the call can be seen: whoever kills the process then finds it used.
        rule = self._next_rule(request)
        self._append("calls.ndjson", seen)
        action = rule.get("do", "note")
        if action == "fail":
            raise ModelError(Outcome(rule["outcome"]), rule.get("text", "scripted failure"))
        if action == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if action == "hang":
            self._hang(request)
        text = rule["text"] if action == "answer" else _note(request)
        self._append("answers.ndjson", seen)
        return ModelReply(text, finish=rule.get("finish", "stop"), input_tokens=100, output_tokens=20)

    def cancel(self, call_id: str) -> None:
        """End a hanging call."""
        with self._lock:
            self._cancelled.add(call_id)

    def _hang(self, request: ModelRequest) -> None:
        until = time.monotonic() + request.timeout_seconds
        while not (self._folder / "release").exists():
            if request.call_id in self._cancelled or time.monotonic() > until:
                raise ModelError(Outcome.TRANSPORT, "the scripted call was ended")
            time.sleep(_POLL_SECONDS)

    def _next_rule(self, request: ModelRequest) -> dict[str, Any]:
        script = self._folder / "script.json"
        rules: list[dict[str, Any]] = json.loads(script.read_text()) if script.exists() else []
        for number, rule in enumerate(rules):
            if _fits(rule, request) and self._take(number, rule.get("times")):
                return rule
        return {}

    def _take(self, number: int, times: int | None) -> bool:
        if times is None:
            return True
        for use in range(times):
            try:
                # Creating a file that must not exist is what makes "the next use" one for all processes.
                os.close(os.open(self._folder / f"used-{number}-{use}", os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            return True
        return False

    def _append(self, name: str, entry: dict[str, Any]) -> None:
        line = (json.dumps(entry) + "\n").encode()
        handle = os.open(self._folder / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(handle, line)
        finally:
            os.close(handle)


def _fits(rule: dict[str, Any], request: ModelRequest) -> bool:
    wanted = rule.get("contains", "")
    return rule.get("kind", request.kind) == request.kind and any(wanted in block for block in request.prompt.blocks)


def _seen(request: ModelRequest) -> dict[str, Any]:
    material = request.material
    common = {"call": request.call_id, "job": request.job_id, "attempt": request.attempt, "kind": request.kind}
    if isinstance(material, ObserverInput):
        seqs = [message.seq for message in material.messages]
        return common | {"first": seqs[0], "last": seqs[-1], "count": len(seqs), "pid": os.getpid()}
    return common | {"texts": len(material.texts), "pid": os.getpid()}


def _note(request: ModelRequest) -> str:
    material = request.material
    if isinstance(material, ObserverInput):
        first, last = material.messages[0], material.messages[-1]
        day = first.created_at
        span = f"{first.seq} to {last.seq} [{first.seq}-{last.seq}]"
        body = f"Date: {day:%b} {day.day}, {day.year}\n* 🔴 ({day:%H:%M}) noted {span}"
    else:
        body = f"* 🔴 condensed {len(material.texts)} segments"
    return f"<observations>\n{body}\n</observations>"
