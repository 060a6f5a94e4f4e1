"""A model that answers in many ways and remembers what it was shown: the other side of the ledger."""

from __future__ import annotations

import re
from dataclasses import dataclass

from om_workers.engine.retry import Outcome
from om_workers.ports.model import ModelError, ModelReply, ModelRequest, ObserverInput
from tests.simulation.scenario import MODEL
from tests.simulation.scheduler import Process, switch
from tests.simulation.weather import Weather

_MARK = re.compile(r"\bc\d+w0\b")
_REMEMBERED = 4
_QUICK = (50, 200, 400, 1_500)
_WAITS = {"slow": 6_000, "late": 14_000, "beyond": 55_000, "never": 10_000_000}
"""Milliseconds: within a lease, past one lease, past the attempt's deadline, for ever."""
_ERRORS = {
    "limited": Outcome.RATE_LIMITED,
    "transport": Outcome.TRANSPORT,
    "auth": Outcome.AUTH,
    "too_large": Outcome.TOO_LARGE,
}


@dataclass
class Call:
    """One call as the model saw it.

    ``seqs``: the messages of an observation; ``texts``: those of a reflection. ``answer``: what may be stored;
    ``outcome``: what the caller was told, if it was told anything.
    """

    id: str
    process: str
    job_id: str
    attempt: int
    kind: str
    seqs: tuple[int, ...]
    texts: tuple[str, ...]
    marks: tuple[str, ...]
    asked_at: int
    manner: str | None = None
    answer: str | None = None
    outcome: str | None = None
    cancelled: bool = False

    @property
    def name(self) -> str:
        """A word for the call, which its answer holds."""
        return f"call-{self.id[-6:]}"


class SimulatedModel:
    """One provider for all processes; ``calls`` holds every call in order."""

    def __init__(self, weather: Weather) -> None:
        self.weather = weather
        self.calls: list[Call] = []
        self._running: dict[str, Call] = {}

    def generate(self, request: ModelRequest, process: Process | None) -> ModelReply:
        """Answer, late or badly or not at all."""
        call = self._begin(request, process)
        try:
            self._take_time(call, request.timeout_seconds)
            reply = self._answer(call)
            call.outcome = "answered"
            return reply
        except ModelError as error:
            call.outcome = error.outcome
            raise
        finally:
            self._running.pop(call.id, None)

    def cancel(self, call_id: str) -> None:
        """End a running call."""
        call = self._running.get(call_id)
        if call is not None:
            call.cancelled = True
            self.weather.count("calls cancelled")
            self.weather.scheduler.wake_all()

    def _begin(self, request: ModelRequest, process: Process | None) -> Call:
        material = request.material
        said = repr(material.messages) if isinstance(material, ObserverInput) else " ".join(material.texts)
        call = Call(
            id=request.call_id,
            process=process.name if process else "",
            job_id=request.job_id,
            attempt=request.attempt,
            kind=request.kind,
            seqs=tuple(message.seq for message in material.messages) if isinstance(material, ObserverInput) else (),
            texts=() if isinstance(material, ObserverInput) else tuple(material.texts),
            marks=tuple(_MARK.findall(said)),
            asked_at=self.weather.scheduler.now,
        )
        rates = [self.weather.faults.model.get(name, 0.0) for name in MODEL]
        call.manner = self.weather.which(MODEL, rates)
        self.weather.count("model calls")
        self.calls.append(call)
        self._running[call.id] = call
        return call

    def _take_time(self, call: Call, timeout_seconds: float) -> None:
        scheduler = self.weather.scheduler
        length = _WAITS.get(call.manner or "") or self.weather.choices.pick(_QUICK)
        # A client that does not notice its own limit in time is a slot that comes back too late.
        most = length if call.manner == "beyond" else int(timeout_seconds * 1_000)
        until = scheduler.now + min(length, most)
        while scheduler.now < until and not call.cancelled:
            scheduler.wait("waits for the model", until)
        if call.cancelled:
            raise ModelError(Outcome.TRANSPORT, "the call was ended")
        if length > most:
            raise ModelError(Outcome.TRANSPORT, "no answer in time")

    def _answer(self, call: Call) -> ModelReply:
        manner = call.manner or ""
        if manner in _ERRORS:
            raise ModelError(_ERRORS[manner], manner, retry_after_seconds=2.0 if manner == "limited" else None)
        lines = self._lines(call)
        texts = {
            "empty": "<observations>\n</observations>",
            "loop": "<observations>\n" + "* 🔴 the same line that comes again and again\n" * 90 + "</observations>",
            "garbage": "Sorry, what was the question?",
            "refusal": "",
            "cut": f"<observations>\n{lines}",
        }
        text = texts.get(manner, f"<observations>\n{lines}\n</observations>")
        finish = {"cut": "length", "refusal": "refusal"}.get(manner, "stop")
        if manner not in texts:
            call.answer = text
        return ModelReply(text, finish)

    def _lines(self, call: Call) -> str:
        more = 60 if call.manner == "long" else self.weather.choices.draw(3) if call.seqs else 0
        if call.seqs:
            first, last = call.seqs[0], call.seqs[-1]
            said = f"* 🔴 (09:00) noted {first} to {last} in {call.name}: {' '.join(call.marks)} [{first}-{last}]"
        else:
            said = f"* 🔴 condensed {len(call.texts)} in {call.name}: {' '.join(call.marks[-_REMEMBERED:])}"
        extra = [f"* ✅ detail {number} of {call.id[-4:]} was settled too" for number in range(more)]
        return "\n".join([said, *extra])


@dataclass
class ModelOfProcess:
    """The model as one process reaches it."""

    model: SimulatedModel
    process: Process | None

    def get(self, model: str) -> ModelOfProcess:  # noqa: ARG002
        """The one model there is."""
        return self

    def generate(self, request: ModelRequest) -> ModelReply:
        """Ask it."""
        switch("generate")
        reply = self.model.generate(request, self.process)
        switch("answered")
        return reply

    def cancel(self, call_id: str) -> None:
        """End a call."""
        switch("cancel")
        self.model.cancel(call_id)
