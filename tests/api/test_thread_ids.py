"""Which thread ids can be used, and how they stand in a path."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from om_workers.services.keys import make_key
from tests.api.conftest import TENANT, Api, said
from tests.api.streams import read_stream

IDS = [
    "user/123",
    "/",
    "a//b/",
    "a/context",
    "why?",
    "a#b",
    "100%",
    "a%2Fb",
    "%252F",
    "a/../b",
    "...",
    " ",
    " a  b ",
    "a+b&c=d;e",
    "münchen/日本語/🐕",
    "🐕" * 256,
]


@pytest.mark.parametrize("thread", IDS)
def test_every_id_that_a_thread_can_have_names_it_in_every_path(api: Api, thread: str) -> None:
    base = f"/v1/threads/{quote(thread, safe='')}"
    assert api.client.post("/v1/threads", json={"id": thread}).status_code == 201
    answer = api.client.post(f"{base}/messages?context=true", json={"messages": [said("a")]})
    assert (answer.status_code, answer.json()["context"]["thread"]) == (202, thread)
    assert api.client.get(base).json()["messages"] == 1
    assert api.client.get(f"{base}/messages").json()["messages"][0]["id"] == "a"
    for path in ("context", "status", "observations"):
        assert api.client.get(f"{base}/{path}").status_code == 200, path
    assert api.client.post(f"{base}/context", json={"wait": False}).status_code == 200
    assert api.client.post(f"{base}/activate").status_code == 200
    assert [found["id"] for found in api.client.get("/v1/threads").json()["threads"]] == [thread]


def test_ids_that_differ_in_their_encoding_only_are_different_threads(api: Api) -> None:
    for number, thread in enumerate(("a/b", "a%2Fb", "a%252Fb"), start=1):
        assert api.append(quote(thread, safe=""), *(said(f"m{one}") for one in range(number))) == 202
    listed = {found["id"]: found["messages"] for found in api.client.get("/v1/threads").json()["threads"]}
    assert listed == {"a/b": 1, "a%2Fb": 2, "a%252Fb": 3}
    assert api.client.get("/v1/threads/a%2fb").json()["id"] == "a/b"


def test_a_bare_slash_still_ends_a_segment(api: Api) -> None:
    assert api.client.post("/v1/threads", json={"id": "a/b"}).status_code == 201
    assert api.client.get("/v1/threads/a/b").status_code == 404
    assert api.client.get("/v1/threads/a/b/context").status_code == 404


@pytest.mark.parametrize("thread", ["", ".", "..", "a\x1fb", "x" * 257])
def test_an_id_that_no_path_can_carry_is_refused_with_its_rule(api: Api, thread: str) -> None:
    answer = api.client.post("/v1/threads", json={"id": thread})
    assert answer.status_code == 422
    error = answer.json()["errors"][0]
    assert (error["field"], bool(error["rule"])) == ("id", True)
    assert api.client.get("/v1/threads").json() == {"threads": []}


def test_dots_are_refused_where_a_client_got_them_through(api: Api) -> None:
    answer = api.client.get("/v1/threads/%2E%2E")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "thread_id"


@pytest.mark.parametrize("path", ["/v1/threads/", "/v1/threads//context", "/v1/threads//messages"])
def test_an_empty_id_in_a_path_is_nobodys_thread(api: Api, path: str) -> None:
    """Above all it is not the list of all threads."""
    assert api.client.get(path, follow_redirects=False).status_code == 404


def test_the_stream_of_a_thread_with_a_slash_is_found(api: Api) -> None:
    assert api.append("user%2F1", said("a")) == 202
    (event,) = read_stream(api, {}, 1, thread="user%2F1")
    assert '"thread": "user/1"' in event
    assert api.client.get("/v1/threads/user%2F2/events").status_code == 404


def test_a_key_id_that_is_no_id_revokes_nothing(api: Api) -> None:
    made = make_key(api.wired.ports, TENANT, name="k")
    assert api.client.delete(f"/v1/keys/{quote('a/' + made.key.id, safe='')}").status_code == 404
    assert api.client.delete(f"/v1/keys/{made.key.id}").status_code == 204
