"""`om doctor` tells a healthy database from a broken one, and both from one that it cannot check."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

from om_workers.bootstrap import migrate, wire
from om_workers.cli import app
from om_workers.services.threads import ensure_thread
from om_workers.settings import Settings

RUNNER = CliRunner()


@pytest.fixture
def database(tmp_path: Path) -> str:
    """A database with one thread in it."""
    url = f"sqlite:///{tmp_path / 'om.db'}"
    wired = wire(Settings(database_url=url))
    migrate(wired)
    ensure_thread(wired.ports, "default", "t", None)
    wired.engine.dispose()
    return url


def break_counter(url: str) -> None:
    with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
        connection.execute("UPDATE memory SET event_count = 7")


def test_a_healthy_database_gives_one_ok_line_for_each_check_and_status_0(database: str) -> None:
    result = RUNNER.invoke(app, ["doctor", "--database-url", database])
    assert result.exit_code == 0
    lines = [line for line in result.stdout.splitlines() if line.startswith(("ok ", "broken "))]
    assert len(lines) >= 16
    assert all(line.startswith("ok ") for line in lines)
    assert f"All {len(lines)} checks hold." in result.stdout


def test_a_broken_counter_is_named_with_its_memory_and_gives_status_1(database: str) -> None:
    break_counter(database)
    result = RUNNER.invoke(app, ["doctor", "--database-url", database])
    assert result.exit_code == 1
    broken = [line for line in result.stdout.splitlines() if line.startswith("broken ")]
    assert [line.split()[1] for line in broken] == ["I13"]
    assert "events" in broken[0]
    assert "        memory " in result.stdout


def test_programs_read_the_same_as_json(database: str) -> None:
    break_counter(database)
    result = RUNNER.invoke(app, ["doctor", "--json", "--database-url", database])
    report = json.loads(result.stdout)
    assert result.exit_code == 1
    assert report["ok"] is False
    assert [check["violations"][0]["invariant"] for check in report["checks"] if check["violations"]] == ["I13"]


def test_the_environment_names_the_database_when_the_command_line_does_not(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OM_DATABASE_URL", database)
    assert RUNNER.invoke(app, ["doctor"]).exit_code == 0


def test_a_file_that_is_not_there_gives_status_2_and_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "absent.db"
    result = RUNNER.invoke(app, ["doctor", "--database-url", f"sqlite:///{path}"])
    assert result.exit_code == 2
    assert f"there is no database file {path}" in result.stderr
    assert not path.exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "run `om migrate`"), (b"not a database, but a long enough text" * 30, "is not a SQLite database")],
)
def test_a_file_without_our_schema_gives_status_2_and_says_why(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "other.db"
    path.write_bytes(content)
    result = RUNNER.invoke(app, ["doctor", "--database-url", f"sqlite:///{path}"])
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""


def test_another_revision_of_the_schema_gives_status_2_and_names_both(database: str) -> None:
    with sqlite3.connect(database.removeprefix("sqlite:///")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0000'")
    result = RUNNER.invoke(app, ["doctor", "--database-url", database])
    assert result.exit_code == 2
    assert "the database schema is '0000', this program needs" in result.stderr


@pytest.mark.parametrize(
    ("url", "words"),
    [("mysql://localhost/om", "must begin with sqlite:/// or postgresql://"), ("nonsense", "must begin with")],
)
def test_an_address_of_another_kind_gives_status_2(url: str, words: str) -> None:
    result = RUNNER.invoke(app, ["doctor", "--database-url", url])
    assert result.exit_code == 2
    assert words in result.stderr


def test_a_server_that_does_not_answer_gives_status_2_and_no_password(tmp_path: Path) -> None:
    url = f"postgresql://om:hunter2@/om?host={tmp_path}"
    result = RUNNER.invoke(app, ["doctor", "--database-url", url])
    assert result.exit_code == 2
    assert "the database does not answer" in result.stderr
    assert "hunter2" not in result.output


def test_postgresql_is_checked_as_well(postgres_url: str) -> None:
    migrate(wire(Settings(database_url=postgres_url)))
    result = RUNNER.invoke(app, ["doctor", "--database-url", postgres_url])
    assert result.exit_code == 0
    assert "checks hold." in result.stdout
