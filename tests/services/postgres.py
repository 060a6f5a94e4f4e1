"""A real PostgreSQL for the tests: one server for each test process, a database of its own for each test."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator

import psycopg
import pytest
from psycopg.sql import SQL, Identifier
from sqlalchemy.engine import URL, make_url

from tests.services.embedded_postgres import PostgresUnavailableError, running_postgres
from tests.services.missing import unavailable


class PostgresServer:
    """A server on which databases may be made and dropped."""

    def __init__(self, url: str) -> None:
        """``url`` names a database to connect to while doing so."""
        self._url = make_url(url)

    def create_database(self, template: str = "template1") -> str:
        """The address (for SQLAlchemy, with psycopg) of a new copy of ``template``, empty by default (40 ms)."""
        name = f"om_test_{secrets.token_hex(8)}"
        statement = "CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY"
        self._execute(SQL(statement).format(Identifier(name), Identifier(template)))
        return _render(self._url, "postgresql+psycopg", name)

    def drop_database(self, url: str) -> None:
        """Drop the database at ``url``, whoever is still connected to it."""
        name = make_url(url).database or ""
        self._execute(SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(Identifier(name)))

    def _execute(self, statement: psycopg.sql.Composed) -> None:
        address = _render(self._url, "postgresql", self._url.database)
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(statement)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """The server named by ``OM_TEST_DATABASE_URL``, else one of this test process."""
    given = os.environ.get("OM_TEST_DATABASE_URL")
    if given:
        yield PostgresServer(given)
        return
    try:
        with running_postgres() as url:
            yield PostgresServer(url)
    except PostgresUnavailableError as error:
        unavailable("PostgreSQL", error)


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The address of an empty database that only this test knows."""
    url = postgres_server.create_database()
    yield url
    postgres_server.drop_database(url)


def _render(url: URL, driver: str, database: str | None) -> str:
    return url.set(drivername=driver, database=database).render_as_string(hide_password=False)
