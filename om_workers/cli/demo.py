"""`om demo`: a conversation of several days, played on the embedded stack."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import httpx
import typer

from om_workers.cli.environment import fail, read_settings
from om_workers.demo.actor import Thresholds
from om_workers.demo.conversation import SHIPPED, ConversationError, read_conversations
from om_workers.demo.play import play
from om_workers.embedded.folder import exclusive_folder, remove_abandoned
from om_workers.embedded.interrupts import Interrupts
from om_workers.embedded.listening import free_port
from om_workers.embedded.stack import Stack
from om_workers.engine.policy import KEYLESS_MODEL

_PREFIX = "om-demo-"


def demo(
    *,
    file: Annotated[
        Path,
        typer.Option(
            help="NDJSON, one message a line: thread_id, id, role, parts, created_at?, step?.", dir_okay=False
        ),
    ] = SHIPPED,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Worker processes.")] = 1,
    message_tokens: Annotated[int, typer.Option(min=200, help="T: pending tokens that start an activation.")] = 2_000,
    observation_tokens: Annotated[int, typer.Option(min=100, help="R: observation tokens to condense.")] = 1_200,
    database_url: Annotated[
        str | None, typer.Option(help="Database to play in, best an empty one. (Default: a SQLite file of its own.)")
    ] = None,
    keep: Annotated[Path | None, typer.Option(help="Keep database and logs in this folder.", file_okay=False)] = None,
    plain: Annotated[bool, typer.Option(help="Plain lines instead of the live view.")] = False,
) -> None:
    """Watch an agent's conversation of several days shrink into an observation log, on real workers.

    Posts every step over HTTP, reads the context before each step of the agent, and checks at the end that nothing was
    lost, nothing doubled, and every context bounded. Exit status 0 only if all of that holds.
    """
    try:
        conversations = read_conversations(file)
    except (ConversationError, OSError) as error:
        fail(f"{file}: {error}", 2)
    settings = read_settings(port=free_port(), host="127.0.0.1", auth=True, database_url=database_url)
    thresholds = Thresholds(message_tokens, observation_tokens)
    steps = sum(len(conversation.steps) for conversation in conversations)
    typer.echo(
        f"{len(conversations)} thread(s), {steps} steps; T = {message_tokens}, R = {observation_tokens}; starting …"
    )
    with (
        _folder(keep) as folder,
        Interrupts() as interrupts,
        Stack(settings, folder, workers=workers, say=typer.echo) as stack,
    ):
        stack.prepare()
        stack.start(give_up=lambda: interrupts.asked)
        result = None
        if not interrupts.asked:
            typer.echo(_model_line(settings.model))
            try:
                result = play(stack, conversations, thresholds, interrupts, plain=plain)
            except httpx.HTTPError as error:
                logs = f"see {stack.logs}" if keep else "--keep FOLDER keeps the logs"
                fail(f"the API did not take a step: {_reason(error)} ({logs})")
        if result is not None:
            typer.echo(f"\n{result.report}")
    if result is None:
        typer.echo("Ended before the conversation did.")
        sys.exit(130)
    sys.exit(0 if all(check.held for check in result.checks) else 1)


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        with exclusive_folder(keep):
            yield keep
        return
    remove_abandoned(Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"))
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as made, exclusive_folder(Path(made)):
        yield Path(made)


def _reason(error: httpx.HTTPError) -> str:
    if isinstance(error, httpx.HTTPStatusError):
        return f"{error.response.status_code} {error.response.text[:300]}"
    return f"{type(error).__name__}: {error}"


def _model_line(model: str) -> str:
    if model == KEYLESS_MODEL:
        return f"Model: {model} (no language model: it picks sentences and facts; OM_MODEL names a real one)."
    return f"Model: {model}."
