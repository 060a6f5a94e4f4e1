"""`om jobs`: what workers do, and what an operator may do about it."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from om_workers.cli.environment import DatabaseUrl, fail, open_ports
from om_workers.engine.jobs import JobState
from om_workers.ports.records import JobRecord
from om_workers.services.listing import list_all_jobs
from om_workers.services.operate import operator_cancels, operator_requeues

jobs = typer.Typer(no_args_is_help=True, help="List, cancel and requeue jobs.")
JobId = Annotated[str, typer.Argument(help="The job's id, as `om jobs list` shows it.")]
_MOST_ERROR_CHARACTERS = 60


@jobs.command("list")
def list_jobs(
    state: Annotated[str | None, typer.Option(help=f"Only jobs in this state: {', '.join(JobState)}.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Only jobs of this tenant.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Most jobs shown.")] = 50,
    database_url: DatabaseUrl = None,
) -> None:
    """List jobs, the newest first."""
    if state is not None and state not in set(JobState):
        fail(f"state must be one of {', '.join(JobState)}; not {state}", 2)
    chosen = None if state is None else JobState(state)
    table = Table("id", "tenant", "lane", "state", "attempts", "outcome", "next try", "error", box=None, pad_edge=False)
    for job in list_all_jobs(open_ports(database_url), tenant_id=tenant, state=chosen, limit=limit):
        table.add_row(*_row(job))
    Console(width=None if typer.get_text_stream("stdout").isatty() else 400).print(table)


@jobs.command()
def cancel(job_id: JobId, database_url: DatabaseUrl = None) -> None:
    """End a job that waits, runs or is parked; its lane makes no other for an hour, or until `requeue`."""
    job = operator_cancels(open_ports(database_url), None, job_id)
    typer.echo(f"Job {job.id} is {job.state}; nothing is made in its place for an hour.")


@jobs.command()
def requeue(job_id: JobId, database_url: DatabaseUrl = None) -> None:
    """Have a parked or waiting job run now; after `cancel`, let its lane work again."""
    job = operator_requeues(open_ports(database_url), None, job_id)
    typer.echo(f"Job {job.id} is {job.state}.")


def _row(job: JobRecord) -> tuple[str, ...]:
    unfinished = job.state in (JobState.QUEUED, JobState.DEAD)
    lane = f"{job.lane} (quarantine)" if job.quarantined else str(job.lane)
    next_try = f"{job.not_before:%Y-%m-%d %H:%M:%S}" if unfinished else ""
    error = (job.last_error or "")[:_MOST_ERROR_CHARACTERS]
    return job.id, job.tenant_id, lane, str(job.state), str(job.attempts), job.last_outcome or "", next_try, error
