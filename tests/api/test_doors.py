"""Who gets in, and what hostile bodies do: nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from om_workers.services.keys import make_key
from tests.api.conftest import Api, said
from tests.api.streams import read_stream

JSON = {"Content-Type": "application/json"}


def thread_routes(api: Api) -> list[tuple[str, str]]:
    """Every method and path below a thread."""
    paths = api.app.openapi()["paths"]
    return [(method, path) for path, item in paths.items() if "{thread_id}" in path for method in item]


def test_every_route_but_health_needs_a_key(api: Api) -> None:
    api.client.headers.pop("Authorization")
    paths = [(m, p) for p, item in api.app.openapi()["paths"].items() if p.startswith("/v1") for m in item]
    assert len(paths) >= 15
    for method, path in paths:
        answer = api.client.request(method, path.replace("{thread_id}", "t").replace("{key_id}", "k"), json={})
        assert answer.status_code == 401, path
        assert answer.headers["content-type"] == "application/problem+json"


def test_another_tenants_thread_is_not_there(api: Api) -> None:
    """SE-4: 404 on every route, also on those that are added later."""
    api.append("t", said("a"))
    foreign = api.key(tenant="other")
    routes = [(m, p) for m, p in thread_routes(api) if (m, p) != ("post", "/v1/threads/{thread_id}/messages")]
    assert len(routes) >= 9
    for method, path in routes:
        answer = api.client.request(method, path.replace("{thread_id}", "t"), json={}, headers=foreign)
        assert answer.status_code == 404, path
    assert api.client.get("/v1/threads", headers=foreign).json() == {"threads": []}


@pytest.mark.parametrize(
    ("scope", "method", "path", "status"),
    [
        ("read", "post", "/v1/threads/t/messages", 403),
        ("ingest", "get", "/v1/threads/t/context", 403),
        ("ingest", "post", "/v1/threads/t/observe", 403),
        ("read", "post", "/v1/keys", 403),
        ("read", "get", "/v1/threads/t/context", 200),
        ("operate", "post", "/v1/threads/t/activate", 200),
        ("admin", "get", "/v1/threads/t/context", 200),
    ],
)
def test_a_key_opens_what_its_scopes_say(api: Api, scope: str, method: str, path: str, status: int) -> None:
    api.append("t", said("a"))
    body = {"messages": [said("b")]} if path.endswith("messages") else {"name": "x"}
    answer = api.client.request(method, path, json=body if method == "post" else None, headers=api.key(scope))
    assert answer.status_code == status


def test_a_revoked_key_opens_nothing_and_another_tenants_cannot_be_revoked(api: Api) -> None:
    made = api.client.post("/v1/keys", json={"name": "k", "scopes": ["read"]}).json()
    headers = {"x-api-key": made["secret"], "Authorization": ""}
    api.client.headers.pop("Authorization")
    assert api.client.get("/v1/threads", headers={"x-api-key": made["secret"]}).status_code == 200
    foreign = api.key(tenant="other")
    assert api.client.delete(f"/v1/keys/{made['id']}", headers=foreign).status_code == 404
    assert api.client.delete(f"/v1/keys/{made['id']}", headers=api.key()).status_code == 204
    assert api.client.get("/v1/threads", headers={"x-api-key": headers["x-api-key"]}).status_code == 401


def test_an_expired_key_opens_nothing(api: Api) -> None:
    now = api.wired.ports.clock.now()
    made = make_key(api.wired.ports, "acme", name="old", expires_at=now)
    answer = api.client.get("/v1/threads", headers={"Authorization": f"Bearer {made.secret}"})
    assert answer.status_code == 401


def test_lone_surrogates_and_nul_are_replaced_and_stored(api: Api) -> None:
    """LP-10 (b) and (c)."""
    body = rb'{"messages":[{"id":"a","role":"user","parts":[{"type":"text","text":"x\ud83dy\u0000z"}]}]}'
    assert api.client.post("/v1/threads/t/messages", content=body, headers=JSON).status_code == 202
    stored = api.client.get("/v1/threads/t/messages").json()["messages"][0]
    assert stored["parts"][0]["text"] == "x\ufffdy\ufffdz"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"\xff\xfe", 422),
        (b"[" * 50_000, 422),
        (b'{"messages": NaN}', 422),
        (b'{"messages":[{"id":"a","role":"user","parts":[{"type":"x","v":1e999}]}]}', 422),
        (b'{"messages":[{"id":"a","role":"user","parts":[{"type":"x","v":' + b"9" * 5_000 + b"}]}]}", 422),
        (b'{"messages":[{"id":"a","role":"user","content":"x","rol":"y"}]}', 422),
        (b'{"messages":[]}', 422),
        (b'{"messages":[{"id":"","role":"user","content":"x"}]}', 422),
        (b'{"messages":[{"id":"a\\u0000","role":"user","content":"x","created_at":"2026-01-01T00:00:00"}]}', 422),
        (b'{"messages":[{"id":"a","role":"user","content":"' + b"x" * 300_000 + b'"}]}', 413),
        (b'"just text"', 422),
    ],
)
def test_a_body_that_is_no_step_is_refused_with_the_reason_and_stores_nothing(
    api: Api, body: bytes, status: int
) -> None:
    answer = api.client.post("/v1/threads/t/messages", content=body, headers=JSON)
    assert answer.status_code == status
    assert answer.json()["detail"]
    assert api.client.get("/v1/threads/t").status_code == 404


@pytest.mark.parametrize("body", [b'{"wait": 1e999}', b'{"wait": -1}', b'{"max_tokens": 0}', b'{"unknown": 1}'])
def test_a_strange_wish_for_a_context_is_no_server_error(api: Api, body: bytes) -> None:
    api.append("t", said("a"))
    answer = api.client.post("/v1/threads/t/context", content=body, headers=JSON)
    assert answer.status_code in (200, 422)


NAMES = ["type", "text", "toolCallId", "args", "x"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    parts=st.lists(st.dictionaries(st.sampled_from(["type", "text", "toolCallId", "args", "x"]), VALUES), max_size=3)
)
def test_no_parts_whatsoever_are_a_server_error(api: Api, parts: list[dict[str, object]]) -> None:
    body = json.dumps({"messages": [{"id": "a", "role": "user", "parts": parts}]}).encode()
    answer = api.client.post("/v1/threads/t/messages", content=body, headers=JSON)
    assert answer.status_code in (202, 409, 422)
    if answer.status_code == 202:
        assert api.client.get("/v1/threads/t/context").status_code == 200


@pytest.mark.parametrize("number", [2**63, 10**30])
def test_a_number_that_no_database_can_hold_is_refused(api: Api, number: int) -> None:
    api.append("t", said("a"))
    for path in ("messages", "events"):
        answer = api.client.get(f"/v1/threads/t/{path}", params={"after": number})
        assert answer.status_code == 422, path
    assert api.client.post("/v1/threads/t/context", json={"min_seq": number, "wait": 0.1}).status_code < 500
    assert api.client.get("/v1/threads/t/context", params={"max_tokens": number}).status_code < 500


@pytest.mark.parametrize("last", ["9" * 30, "9" * 5_000, "-1", "١", "x"])
def test_a_last_event_id_that_is_none_is_taken_for_absent(api: Api, last: str) -> None:
    api.append("t", said("a"))
    assert len(read_stream(api, {"Last-Event-ID": last}, 1)) == 1
