"""`om doctor`: which invariants a database keeps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from om_workers.bootstrap import broker_warnings, wire
from om_workers.cli.environment import fail, read_settings
from om_workers.ports.errors import OmError
from om_workers.services.doctor import Finding, examine

CANNOT_CHECK = 2


def doctor(
    *,
    database_url: Annotated[
        str | None, typer.Option(help="SQLite (sqlite:///path) or PostgreSQL address. (Default: OM_DATABASE_URL.)")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of lines.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="Most violations shown of each kind.")] = 5,
) -> None:
    """Check every invariant that a database can show; reads only, safe while everything runs.

    Warns, without changing the status, of a Redis (OM_REDIS_URL) that may throw queued tasks away.

    Exit status: 0 all hold, 1 some are broken, 2 the database cannot be checked (absent, another schema).
    """
    settings = read_settings(database_url=database_url)
    require_database(settings.database_url)
    try:
        findings = examine(wire(settings).ports, limit=limit)
    except OmError as error:
        fail(error, CANNOT_CHECK)
    warnings = broker_warnings(settings)
    typer.echo(as_document(findings, warnings) if as_json else as_lines(findings, warnings))
    if any(finding.violations for finding in findings):
        raise typer.Exit(1)


def as_lines(findings: Sequence[Finding], warnings: Sequence[str]) -> str:
    """A line for each check, its violations below it, a line for each warning, and a line that sums up."""
    lines = ["Each line names a fault that was looked for.", ""]
    for finding in findings:
        lines.append(f"{'broken' if finding.violations else 'ok    '}  {finding.name}")
        for violation in finding.violations:
            detail = violation.detail.removeprefix(f"{finding.name}: ")
            lines.append(f"        memory {violation.memory_id}: {detail}")
    lines.extend(f"warning {warning}" for warning in warnings)
    broken = sum(1 for finding in findings if finding.violations)
    lines.append("")
    lines.append(f"{broken} of {len(findings)} checks are broken." if broken else f"All {len(findings)} checks hold.")
    return "\n".join(lines)


def as_document(findings: Sequence[Finding], warnings: Sequence[str]) -> str:
    """The same for machines: ``{"ok": …, "checks": [{"name": …, "violations": […]}], "warnings": […]}``."""
    healthy = not any(finding.violations for finding in findings)
    checks = [asdict(finding) for finding in findings]
    return json.dumps({"ok": healthy, "checks": checks, "warnings": list(warnings)}, ensure_ascii=False)


def require_database(url: str) -> None:
    """End the program when ``url`` names a SQLite file that is not there: connecting would make an empty one."""
    scheme, _, place = url.partition(":///")
    path = place.partition("?")[0]
    if scheme.startswith("sqlite") and path and path != ":memory:" and not Path(path).is_file():
        fail(f"there is no database file {path}", CANNOT_CHECK)
