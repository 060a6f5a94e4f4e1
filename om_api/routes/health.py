"""Whether this process lives, can take a turn, and whether the pipeline behind it moves."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from om_api.deps import PortsOf
from om_workers.services.health import check_ready, pipeline_health

router = APIRouter(tags=["health"])


@router.get("/livez")
async def livez() -> dict[str, str]:
    """This process answers."""
    return {"status": "ok"}


@router.get("/readyz", responses={503: {"description": "This process cannot take a turn now."}})
def readyz(ports: PortsOf) -> dict[str, str]:
    """This process can take a turn: its database answers and has the right schema. No worker is asked."""
    check_ready(ports)
    return {"status": "ok"}


@router.get("/healthz/pipeline")
def pipeline(ports: PortsOf) -> dict[str, Any]:
    """Jobs by lane and state, the oldest due job's age, and what waits on each queue."""
    return dict(pipeline_health(ports))
