"""The tenant's API keys."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter

from om_api.body import CleanRoute
from om_api.deps import Admin, PortsOf
from om_api.schemas.common import problems
from om_api.schemas.keys import KeyBody, key_json
from om_workers.services.keys import make_key, revoke_key

router = APIRouter(prefix="/v1/keys", tags=["keys"], route_class=CleanRoute)


@router.get("", responses=problems())
def get_keys(caller: Admin, ports: PortsOf) -> dict[str, Any]:
    """The tenant's keys; secrets are not stored and cannot be shown."""
    return {"keys": [key_json(key) for key in ports.store.keys.list(caller.tenant_id)]}


@router.post("", status_code=HTTPStatus.CREATED, responses=problems(413))
def create_key(body: KeyBody, caller: Admin, ports: PortsOf) -> dict[str, Any]:
    """Make a key. Its secret is in this answer and nowhere else."""
    made = make_key(ports, caller.tenant_id, name=body.name, scopes=body.scopes, expires_at=body.expires_at)
    return key_json(made.key) | {"secret": made.secret}


@router.delete("/{key_id}", status_code=HTTPStatus.NO_CONTENT, responses=problems(404))
def delete_key(key_id: str, caller: Admin, ports: PortsOf) -> None:
    """Revoke a key at once."""
    revoke_key(ports, caller.tenant_id, key_id)
