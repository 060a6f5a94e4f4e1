"""Every command tells the truth about itself, and a wrong setting is told without a traceback or a secret."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

from om_workers import __version__
from om_workers.adapters.celery.app import CONTROL_QUEUE, QUEUES
from om_workers.cli import app
from om_workers.embedded import commands
from om_workers.settings import Settings

RUNNER = CliRunner()
COMMANDS = ["up", "demo", "doctor", "migrate", "api", "worker", "beat", "version", "keys", "jobs"]
KEYS = [["keys", name] for name in ("create", "list", "revoke")]


def test_these_are_the_commands() -> None:
    group = typer.main.get_group(app)
    assert set(group.commands) == set(COMMANDS)


@pytest.mark.parametrize("command", [*([name] for name in COMMANDS), *KEYS])
def test_every_command_and_every_option_of_it_is_explained(command: list[str]) -> None:
    found = typer.main.get_group(app)
    for name in command[:-1]:
        found = found.commands[name]  # type: ignore[assignment]
    chosen = found.commands[command[-1]]
    assert chosen.help
    assert [option.name for option in chosen.params if not getattr(option, "help", "")] == []
    assert RUNNER.invoke(app, [*command, "--help"]).exit_code == 0


def test_the_version_is_the_packages() -> None:
    assert RUNNER.invoke(app, ["version"]).stdout == f"om {__version__}\n"


def test_migrating_twice_changes_nothing_the_second_time(tmp_path: Path) -> None:
    command = ["migrate", "--database-url", f"sqlite:///{tmp_path / 'om.db'}"]
    assert "a new version is stored" in RUNNER.invoke(app, command).stdout
    assert "unchanged" in RUNNER.invoke(app, command).stdout


def test_a_wrong_setting_is_named_without_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OM_PORT", "hunter2")
    result = RUNNER.invoke(app, ["migrate"])
    assert result.exit_code == 2
    assert result.stderr.startswith("om: OM_PORT: ")
    assert "hunter2" not in result.stderr


def test_a_wrong_choice_is_answered_with_the_right_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OM_LOG_LEVEL", "loud")
    result = RUNNER.invoke(app, ["migrate"])
    assert result.exit_code == 2
    assert result.stderr.startswith("om: OM_LOG_LEVEL: Input should be 'debug', 'info'")


def test_a_nested_wrong_setting_is_named_by_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OM_COMPATIBLE", '{"mine": {"api_key": "hunter2"}}')
    result = RUNNER.invoke(app, ["doctor"])
    assert result.exit_code == 2
    assert "OM_COMPATIBLE__MINE__BASE_URL: " in result.stderr
    assert "hunter2" not in result.stderr


def test_an_unknown_queue_is_refused_before_anything_starts() -> None:
    result = RUNNER.invoke(app, ["worker", "--queues", "observe,everything"])
    assert result.exit_code == 2
    assert "queues must be among observe, reflect, control, quarantine; not everything" in result.stderr


def test_the_queues_of_a_worker_are_those_that_tasks_are_sent_to() -> None:
    arguments = commands.worker_arguments(lanes=(*commands.LANES, commands.QUARANTINE), slots=3)
    taken = arguments[arguments.index("--queues") + 1].split(",")
    assert set(taken) == {*QUEUES.values(), CONTROL_QUEUE}


def test_children_are_told_secrets_by_their_environment_and_never_by_their_command_line(tmp_path: Path) -> None:
    settings = Settings.model_validate(
        {"redis_url": "redis://:hunter2@127.0.0.1:1/0", "database_url": "postgresql://om:hunter3@localhost/om"}
    )
    told = commands.environment(settings)
    assert told["OM_REDIS_URL"] == "redis://:hunter2@127.0.0.1:1/0"
    assert told["OM_DATABASE_URL"] == "postgresql://om:hunter3@localhost/om"
    lines = [
        commands.api_arguments(settings.host, settings.port),
        commands.worker_arguments(lanes=commands.LANES, slots=1, name="w"),
        commands.beat_arguments(tmp_path),
    ]
    assert "hunter" not in repr(lines)


def test_a_relative_options_file_is_found_by_children_wherever_they_run() -> None:
    told = commands.environment(Settings(options_file=Path("om.toml")))
    assert told["OM_OPTIONS_FILE"] == str(Path.cwd() / "om.toml")
