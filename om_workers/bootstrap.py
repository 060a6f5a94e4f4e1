"""The only place where adapters are chosen and wired."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from celery import Celery
from sqlalchemy import Engine

from om_workers.adapters.celery.app import create_app
from om_workers.adapters.celery.queue import CeleryTaskQueue
from om_workers.adapters.clock import SystemClock, SystemIds
from om_workers.adapters.log import create_log
from om_workers.adapters.models.router import CompatibleServer, ModelRouter
from om_workers.adapters.redis.bus import RedisEventBus
from om_workers.adapters.redis.bus import connect as connect_redis
from om_workers.adapters.redis.eviction import eviction_warning
from om_workers.adapters.redis.subscriber import RedisEventListener
from om_workers.adapters.sql.connection import DatabaseClock
from om_workers.adapters.sql.connection import connect as connect_sql
from om_workers.adapters.sql.migrate import upgrade
from om_workers.adapters.sql.store import SqlStore
from om_workers.adapters.tokens import TiktokenTokenizer
from om_workers.engine.options import merge_options, resolve_policy
from om_workers.ports.bundle import Ports, Timing
from om_workers.ports.bus import EventListener
from om_workers.settings import Settings

_SENDING_SECONDS = 1.0
_CONSUMING_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Wired:
    """A process's adapters, put together."""

    settings: Settings
    ports: Ports
    engine: Engine
    app: Celery


def wire(settings: Settings, *, consuming: bool = False) -> Wired:
    """The adapters for these settings. A process that only sends waits less long for the broker."""
    log = create_log(settings.log_level, settings.log_format)
    redis_url = settings.redis_url.get_secret_value()
    engine = connect_sql(
        settings.database_url, pool_size=settings.pool_size, lock_timeout_seconds=settings.lock_timeout_seconds
    )
    timeout = _CONSUMING_SECONDS if consuming else _SENDING_SECONDS
    app = create_app(redis_url, sweep_seconds=settings.sweep_seconds, timeout_seconds=timeout)
    client = connect_redis(redis_url)
    tokens = TiktokenTokenizer()
    clock = SystemClock()
    ports = Ports(
        store=SqlStore(engine, DatabaseClock(clock)),
        clock=clock,
        ids=SystemIds(),
        tokens=tokens,
        queue=CeleryTaskQueue(app, client, log),
        bus=RedisEventBus(client, log),
        models=_models(settings, tokens),
        log=log,
        timing=_timing(settings),
        default_model=settings.model,
    )
    return Wired(settings, ports, engine, app)


def create_listener(wired: Wired) -> EventListener:
    """What wakes the coroutines of this process's event loop."""
    return RedisEventListener(wired.settings.redis_url.get_secret_value(), wired.ports.log)


def broker_warnings(settings: Settings) -> list[str]:
    """What an operator should change about the broker; nothing is written to it."""
    with connect_redis(settings.redis_url.get_secret_value()) as client:
        warning = eviction_warning(client)
    return [] if warning is None else [warning]


def migrate(wired: Wired) -> bool:
    """Bring the schema up to date and load the options file; whether the options changed.

    Raises ``InvalidOptionError`` before anything is stored.
    """
    options = read_options_file(wired.settings)
    resolve_policy(merge_options(options), default_model=wired.settings.model)
    upgrade(wired.engine)
    return wired.ports.store.set_installation_options(options)


def read_options_file(settings: Settings) -> Mapping[str, Any]:
    """The installation's memory options, as the file says; none without a file."""
    if settings.options_file is None:
        return {}
    return tomllib.loads(settings.options_file.read_text(encoding="utf-8"))


def _models(settings: Settings, tokens: TiktokenTokenizer) -> ModelRouter:
    servers = {
        name: CompatibleServer(server.base_url, server.api_key.get_secret_value())
        for name, server in settings.compatible.items()
    }
    return ModelRouter(tokens, compatible=servers, scripted_folder=settings.scripted_dir)


def _timing(settings: Settings) -> Timing:
    return Timing(
        lease_seconds=settings.lease_seconds,
        heartbeat_seconds=settings.heartbeat_seconds,
        attempt_seconds=settings.attempt_seconds,
        drain_seconds=settings.drain_seconds,
        window=settings.window,
    )
