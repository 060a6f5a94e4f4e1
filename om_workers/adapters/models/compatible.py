"""``compatible:<name>/…``: any server that speaks OpenAI's chat completions, through the official SDK."""

from __future__ import annotations

import threading
from typing import Any

from om_workers.engine.retry import Outcome
from om_workers.ports.model import ModelError, ModelReply, ModelRequest

_FINISH = {"stop": "stop", "length": "length", "content_filter": "refusal"}


class CompatibleModel:
    """One configured server. A call has a client of its own, so that closing it ends that call and no other."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self._base_url = base_url
        self._api_key = api_key
        self._clients: dict[str, Any] = {}
        self._lock = threading.Lock()

    def generate(self, request: ModelRequest) -> ModelReply:
        """The answer to one chat completion; the SDK's own retries are off."""
        import openai

        client = openai.OpenAI(
            base_url=self._base_url, api_key=self._api_key, max_retries=0, timeout=request.timeout_seconds
        )
        with self._lock:
            self._clients[request.call_id] = client
        try:
            with client:
                return _ask(client, request)
        except openai.OpenAIError as error:
            raise _translate(error) from error
        except RuntimeError as error:
            # What the SDK's transport says when its client is closed under a running call.
            raise ModelError(Outcome.TRANSPORT, f"the call was ended: {error}") from error
        finally:
            with self._lock:
                self._clients.pop(request.call_id, None)

    def cancel(self, call_id: str) -> None:
        """End the call by closing its client."""
        with self._lock:
            client = self._clients.get(call_id)
        if client is not None:
            client.close()


def _ask(client: Any, request: ModelRequest) -> ModelReply:
    messages = [{"role": "system", "content": request.prompt.system}]
    messages += [{"role": "user", "content": block} for block in request.prompt.blocks]
    completion = client.chat.completions.create(
        model=request.model.partition("/")[2], messages=messages, temperature=request.temperature
    )
    if not completion.choices:
        raise ModelError(Outcome.UNUSABLE, "the answer holds no choice")
    choice = completion.choices[0]
    refused = getattr(choice.message, "refusal", None) is not None
    usage = completion.usage
    return ModelReply(
        text=choice.message.content or "",
        finish="refusal" if refused else _FINISH.get(choice.finish_reason, "other"),
        input_tokens=None if usage is None else usage.prompt_tokens,
        output_tokens=None if usage is None else usage.completion_tokens,
    )


def _translate(error: Exception) -> ModelError:
    import openai

    if isinstance(error, openai.RateLimitError):
        return ModelError(Outcome.RATE_LIMITED, _words(error), retry_after_seconds=_retry_after(error))
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError | openai.NotFoundError):
        return ModelError(Outcome.AUTH, _words(error))
    if isinstance(error, openai.BadRequestError):
        too_large = "context" in str(error).lower() or "maximum" in str(error).lower()
        return ModelError(Outcome.TOO_LARGE if too_large else Outcome.UNUSABLE, _words(error))
    if isinstance(error, openai.APIStatusError) and error.status_code == 413:
        return ModelError(Outcome.TOO_LARGE, _words(error))
    return ModelError(Outcome.TRANSPORT, _words(error))


def _words(error: Exception) -> str:
    status = getattr(error, "status_code", None)
    return f"{type(error).__name__}{'' if status is None else f' (HTTP {status})'}"


def _retry_after(error: Any) -> float | None:
    try:
        return float(error.response.headers.get("retry-after"))
    except (AttributeError, TypeError, ValueError):
        return None
