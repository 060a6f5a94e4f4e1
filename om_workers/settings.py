"""What a deployment sets: environment variables with the prefix ``OM_``, listed in ``config/example.env``."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class CompatibleSettings(BaseModel):
    """One OpenAI-compatible server."""

    base_url: str
    api_key: SecretStr = SecretStr("none")


class Settings(BaseSettings):
    """The deployment's settings; read by entry points only."""

    model_config = SettingsConfigDict(env_prefix="OM_", env_nested_delimiter="__", extra="forbid")

    database_url: str = Field("sqlite:///om.db", description="SQLite file or PostgreSQL address.")
    redis_url: SecretStr = Field(SecretStr("redis://127.0.0.1:6379/0"), description="Broker and events.")
    model: str = Field("local/extractive", description="Model of memories whose options name none, as provider/model.")
    compatible: dict[str, CompatibleSettings] = Field(
        default_factory=dict, description="OpenAI-compatible servers by name, as JSON."
    )
    options_file: Path | None = Field(None, description="TOML file with the installation's memory options.")
    scripted_dir: Path | None = Field(None, description="Folder that steers the scripted model (tests only).")
    auth: bool = Field(True, description="Whether requests need an API key; off is allowed on the loopback only.")
    host: str = Field("127.0.0.1", description="Address the API listens on.")
    port: int = Field(8420, ge=0, le=65_535, description="Port the API listens on.")
    max_body_bytes: int = Field(16_777_216, gt=0, description="Largest request body.")
    max_waiters: int = Field(500, gt=0, description="Requests of one API process that may wait at once.")
    lease_seconds: float = Field(10.0, gt=0, description="How long a worker's lease lasts without renewal.")
    heartbeat_seconds: float = Field(3.0, gt=0, description="How often a worker renews its leases.")
    attempt_seconds: float = Field(600.0, gt=0, description="Longest duration of one attempt of a job.")
    drain_seconds: float = Field(20.0, ge=0, description="How long a worker that shuts down lets jobs finish.")
    sweep_seconds: float = Field(2.0, gt=0, description="How often due work is looked for.")
    window: int = Field(64, gt=0, description="Most tasks that wait on the broker at once, per queue.")
    lock_timeout_seconds: float = Field(5.0, gt=0, description="Longest wait for a memory's lock.")
    pool_size: int = Field(20, gt=0, description="Database connections a process keeps open.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="debug, info, warning or error."
    )
    log_format: Literal["json", "console"] = Field("json", description="json, or console for people.")
