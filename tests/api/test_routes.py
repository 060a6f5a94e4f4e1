"""What each route answers."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from om_api.app import OpenDoorError, create_app
from om_workers.bootstrap import wire
from om_workers.settings import Settings
from tests.api.conftest import Api, said
from tests.api.streams import read_stream


def test_a_thread_is_made_once_and_found_afterwards(api: Api) -> None:
    body = {"id": "t", "resource_id": "u", "options": {"observation": {"messageTokens": 500}}}
    assert api.client.post("/v1/threads", json=body).status_code == 201
    again = api.client.post("/v1/threads", json=body)
    assert (again.status_code, again.json()["resource_id"]) == (200, "u")
    listed = api.client.get("/v1/threads", params={"resource_id": "u"}).json()["threads"]
    assert [thread["id"] for thread in listed] == ["t"]
    assert api.client.get("/v1/threads/t").json()["messages"] == 0


def test_an_option_that_breaks_its_rule_is_named_and_no_thread_is_made(api: Api) -> None:
    answer = api.client.post("/v1/threads", json={"id": "t", "options": {"observation": {"blockAfter": 0.5}}})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "observation.blockAfter"
    assert api.client.get("/v1/threads/t").status_code == 404


def test_a_step_is_stored_and_read_back_at_once(api: Api) -> None:
    """AU-1 and AU-6: the time comes back with its offset."""
    message = said("a", "my dog is Rex") | {"created_at": "2026-03-02T09:30:00+01:00"}
    answer = api.client.post("/v1/threads/t/messages?context=true", json={"messages": [message]})
    assert answer.status_code == 202
    assert answer.json()["stored"] == [{"id": "a", "seq": 1, "duplicate": False}]
    shown = answer.json()["context"]["messages"][0]
    assert (shown["parts"][0]["text"], shown["created_at"]) == ("my dog is Rex", "2026-03-02T09:30:00+01:00")
    assert api.client.get("/v1/threads/t/messages").json()["messages"][0]["created_at"] == shown["created_at"]


def test_a_repeated_step_changes_nothing_and_a_different_one_under_the_same_id_is_refused(api: Api) -> None:
    """CL-8."""
    for _ in range(3):
        assert api.append("t", said("a")) == 202
    assert api.append("t", said("a"), said("b", role="assistant")) == 202
    assert api.append("t", said("a", "something else")) == 409
    assert [m["id"] for m in api.client.get("/v1/threads/t/messages").json()["messages"]] == ["a", "b"]


def test_a_batch_is_stored_whole_or_not_at_all(api: Api) -> None:
    """CL-11: the third message is refused, so the first two are not stored either; the retry ends well."""
    bad: dict[str, object] = {"id": "c", "role": "nobody", "content": "x"}
    assert api.append("t", said("a"), said("b"), bad) == 422
    assert api.client.get("/v1/threads/t").status_code == 404
    assert api.append("t", said("a"), said("b"), said("c")) == 202
    assert len(api.client.get("/v1/threads/t/messages").json()["messages"]) == 3


def test_two_first_turns_at_once_make_one_thread_and_keep_both(api: Api) -> None:
    """CL-1 (a)."""
    barrier = threading.Barrier(2)
    statuses: list[int] = []

    def first_turn(name: str) -> None:
        barrier.wait(timeout=10)
        statuses.append(api.append("new", said(name)))

    threads = [threading.Thread(target=first_turn, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert statuses == [202, 202]
    stored = api.client.get("/v1/threads/new/messages").json()["messages"]
    assert sorted(message["id"] for message in stored) == ["a", "b"]
    assert [message["seq"] for message in stored] == [1, 2]


def test_messages_of_equal_time_keep_the_order_they_came_in(api: Api) -> None:
    """ST-5."""
    same: dict[str, object] = {"created_at": "2026-03-02T09:30:00Z"}
    for number in range(5):
        api.append("t", said(f"m{number}") | same)
    stored = api.client.get("/v1/threads/t/messages").json()["messages"]
    assert [message["id"] for message in stored] == [f"m{number}" for number in range(5)]


def test_an_unchanged_context_is_not_sent_again(api: Api) -> None:
    api.append("t", said("a"))
    first = api.client.get("/v1/threads/t/context")
    again = api.client.get("/v1/threads/t/context", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    api.append("t", said("b"))
    changed = api.client.get("/v1/threads/t/context", headers={"If-None-Match": first.headers["ETag"]})
    assert changed.status_code == 200


def test_a_context_that_cannot_wait_any_longer_is_complete_and_says_that_it_is_stale(api: Api) -> None:
    """CL-12: no worker runs; the caller waits for as long as it said, and gets everything word for word."""
    options = {"observation": {"messageTokens": 50, "bufferTokens": False}}
    api.client.post("/v1/threads", json={"id": "t", "options": options})
    api.append("t", said("a", "word " * 100))
    answer = api.client.post("/v1/threads/t/context", json={"wait": 0.2}).json()
    assert answer["stale"] is True
    assert [message["id"] for message in answer["messages"]] == ["a"]


def test_max_tokens_leaves_out_the_oldest_and_names_them(api: Api) -> None:
    for number in range(10):
        api.append("t", said(f"m{number}", "word " * 20))
    answer = api.client.get("/v1/threads/t/context", params={"max_tokens": 60}).json()
    assert answer["omitted"]["first_seq"] == 1
    assert answer["messages"][-1]["seq"] == 10
    assert answer["omitted"]["last_seq"] + 1 == answer["messages"][0]["seq"]


def test_status_names_the_unfinished_job(api: Api) -> None:
    api.append("t", said("a"))
    assert api.client.post("/v1/threads/t/observe", json={}).status_code == 202
    (job,) = api.client.get("/v1/threads/t/status").json()["jobs"]
    assert (job["lane"], job["state"], job["trigger"]) == ("observe", "queued", "manual")
    joined = api.client.post("/v1/threads/t/observe", json={}).json()["job"]
    assert joined["id"] == job["id"]
    assert api.client.post("/v1/threads/t/reflect", json={}).json() == {"job": None}
    assert api.client.post("/v1/threads/t/activate").json() == {"changed": 0}
    assert api.client.get("/v1/threads/t/observations").json() == {"observations": []}


def test_events_are_replayed_behind_the_last_one_seen_and_an_unknown_one_resets(api: Api) -> None:
    for number in range(3):
        api.append("t", said(f"m{number}"))
    assert _ids(api, {"Last-Event-ID": "1"}, 2) == ["2", "3"]
    assert _first(api, {"Last-Event-ID": "99"})["event"] == "reset"


def test_health_needs_no_key(api: Api) -> None:
    api.client.headers.pop("Authorization")
    assert api.client.get("/livez").json() == {"status": "ok"}
    assert api.client.get("/readyz").json() == {"status": "ok"}
    assert api.client.get("/healthz/pipeline").json()["queues"] == {"observe": 0, "reflect": 0, "quarantine": 0}


def test_the_documentation_is_complete_and_needs_no_network(api: Api) -> None:
    page = api.client.get("/docs")
    assert page.status_code == 200
    assert "http://" not in page.text.replace("http://testserver", "")
    assert "https://" not in page.text
    schema = api.client.get("/openapi.json").json()
    operations = [op for path, item in schema["paths"].items() if path.startswith("/v1") for op in item.values()]
    assert operations
    assert all({"401", "403", "422", "503"} <= op["responses"].keys() for op in operations)
    bodies = [op["requestBody"]["content"]["application/json"]["schema"] for op in operations if "requestBody" in op]
    names = [body["$ref"].rsplit("/", 1)[1] for body in bodies]
    assert all(schema["components"]["schemas"][name]["examples"] for name in names)


def test_an_api_without_keys_opens_on_the_loopback_only(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'om.db'}"
    open_door = Settings.model_validate({"auth": False, "host": "0.0.0.0", "database_url": database})  # noqa: S104
    with pytest.raises(OpenDoorError, match="loopback"):
        create_app(wire(open_door))


def _ids(api: Api, headers: dict[str, str], count: int) -> list[str]:
    return [_field(block, "id") for block in read_stream(api, headers, count)]


def _first(api: Api, headers: dict[str, str]) -> dict[str, str]:
    (block,) = read_stream(api, headers, 1)
    return {"event": _field(block, "event"), "data": json.loads(_field(block, "data"))}


def _field(block: str, name: str) -> str:
    return next(line.partition(": ")[2] for line in block.splitlines() if line.startswith(f"{name}:"))


def test_a_deleted_message_is_gone_and_the_counts_are_true(api: Api) -> None:
    api.append("t", said("a/1", "my secret is 42"), said("b", "noted", role="assistant"))
    removed = api.client.delete("/v1/threads/t/messages/a%2F1")
    assert removed.status_code == 200
    assert removed.json()["deleted"] == {"messages": 1, "observations": 0, "reflections": 0, "rebuilds": 0}
    assert api.client.delete("/v1/threads/t/messages/a%2F1").json()["deleted"]["messages"] == 0
    assert "secret" not in api.client.get("/v1/threads/t/context").text
    assert api.append("t", said("a/1", "my secret is 42")) == 410
    assert api.client.delete("/v1/threads/t/messages/never").status_code == 404


def test_a_deleted_thread_answers_410_until_it_is_made_anew(api: Api) -> None:
    api.append("t", said("a"))
    removed = api.client.delete("/v1/threads/t")
    assert (removed.status_code, removed.json()["deleted"]["messages"]) == (202, 1)
    for path in ("", "/context", "/messages", "/status", "/observations", "/events", "/jobs"):
        assert api.client.get(f"/v1/threads/t{path}").status_code == 410, path
    assert api.append("t", said("b")) == 410
    assert api.client.delete("/v1/threads/t").status_code == 410
    assert api.client.get("/v1/threads").json()["threads"] == []
    assert api.client.post("/v1/threads", json={"id": "t"}).status_code == 201
    assert api.append("t", said("b")) == 202


def test_a_job_is_listed_cancelled_and_requeued(api: Api) -> None:
    api.client.post("/v1/threads", json={"id": "t", "options": {"observation": {"messageTokens": 5_000}}})
    api.append("t", said("a", "hello there " * 50))
    started = api.client.post("/v1/threads/t/observe", json={}).json()["job"]
    assert [job["id"] for job in api.client.get("/v1/threads/t/jobs").json()["jobs"]] == [started["id"]]
    assert api.client.get(f"/v1/jobs/{started['id']}").json()["job"]["state"] == "queued"
    assert api.client.post(f"/v1/jobs/{started['id']}/cancel").json()["job"]["state"] == "cancelled"
    assert api.client.post(f"/v1/jobs/{started['id']}/requeue").status_code == 200
    for method, path in (("get", ""), ("post", "/cancel"), ("post", "/requeue")):
        assert getattr(api.client, method)(f"/v1/jobs/unknown{path}").status_code == 404
        other = api.key("admin", tenant="globex")
        assert getattr(api.client, method)(f"/v1/jobs/{started['id']}{path}", headers=other).status_code == 404
