"""`om keys` makes keys that open the API, shows a secret once, and takes keys back."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from om_workers.bootstrap import migrate, wire
from om_workers.cli import app, main
from om_workers.ports.bundle import Ports
from om_workers.ports.errors import UnauthenticatedError
from om_workers.services.keys import authenticate
from om_workers.settings import Settings

RUNNER = CliRunner()


@pytest.fixture
def ports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ports:
    """A migrated database that the environment names."""
    monkeypatch.setenv("OM_DATABASE_URL", f"sqlite:///{tmp_path / 'om.db'}")
    wired = wire(Settings())
    migrate(wired)
    return wired.ports


def keys(*arguments: str) -> Result:
    return RUNNER.invoke(app, ["keys", *arguments])


def test_a_made_key_opens_what_its_scopes_say(ports: Ports) -> None:
    result = keys("create", "--tenant", "acme", "--name", "agent", "--scopes", "ingest, read")
    assert result.exit_code == 0
    key = authenticate(ports, result.stdout.strip())
    assert (key.tenant_id, key.name, key.scopes, key.expires_at) == ("acme", "agent", ("ingest", "read"), None)


def test_only_the_secret_is_on_standard_output_so_that_it_can_be_kept_by_a_script(ports: Ports) -> None:
    result = keys("create", "--name", "agent")
    assert result.stdout.split() == [result.stdout.strip()]
    assert "not shown again" in result.stderr


def test_a_key_ends_after_the_days_it_was_given(ports: Ports) -> None:
    secret = keys("create", "--name", "guest", "--expires-days", "3").stdout.strip()
    key = authenticate(ports, secret)
    assert key.expires_at is not None
    assert timedelta(days=2.9) < key.expires_at - key.created_at <= timedelta(days=3.1)


def test_the_list_shows_every_key_and_no_secret(ports: Ports) -> None:
    secrets = [keys("create", "--tenant", tenant, "--name", f"of {tenant}").stdout.strip() for tenant in ("a", "b")]
    listed = keys("list").stdout
    assert "of a" in listed
    assert "of b" in listed
    assert "of b" not in keys("list", "--tenant", "a").stdout
    assert not any(secret in listed for secret in secrets)


def test_a_revoked_key_opens_nothing_and_is_listed_as_such(ports: Ports) -> None:
    secret = keys("create", "--name", "old").stdout.strip()
    assert keys("revoke", authenticate(ports, secret).id).exit_code == 0
    with pytest.raises(UnauthenticatedError):
        authenticate(ports, secret)
    assert "revoked" in keys("list").stdout


def test_an_unknown_key_cannot_be_revoked(ports: Ports) -> None:
    result = keys("revoke", "nobody")
    assert result.exit_code == 1
    assert "there is no living key nobody" in result.stderr


def test_an_unknown_scope_is_refused_in_one_line(
    ports: Ports, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["om", "keys", "create", "--name", "x", "--scopes", "read,everything"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert capsys.readouterr().err == "om: scopes must be among ingest, read, operate, admin\n"
    assert ports.store.keys.list(None) == []


def test_a_database_without_schema_says_what_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["om", "keys", "list", "--database-url", f"sqlite:///{tmp_path / 'new.db'}"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert "run `om migrate`" in capsys.readouterr().err
