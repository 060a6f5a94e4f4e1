"""Where a rule of the linter may be silenced. All others hold everywhere: complexity, size, time and chance."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.architecture.sources import Source, sources

GUARDED = re.compile(r"(BLE|C901|PLR09|PLC0415|TID|D1)")
SILENCED = {
    "BLE001": {
        "om_workers/adapters/plugins": "a plug-in is other people's code",
        "om_workers/services/dispatch": "what cannot be sent now is sent by the next sweep",
        "om_workers/tasks/": "a task ends as an outcome of its attempt, whatever happened",
    },
    "PLC0415": {
        "om_workers/embedded/redis_server.py": "the bundled server is an optional package",
    },
}
"""Guarded rule → where it may be silenced → why."""
NOQA = re.compile(r"#\s*noqa:\s*([A-Z0-9, ]+)")


def test_guarded_rules_are_silenced_only_where_listed() -> None:
    """A broad ``except`` ate the error that would have told why work stood still; a hidden import hid a cycle."""
    assert [found for source in sources() for found in silenced(source)] == []


def test_a_silenced_rule_is_seen() -> None:
    line = "except Exception:  # no" + "qa: BLE001, E501 - because\n"
    assert list(silenced(Source("om_workers/services/ingest.py", line))) == ["om_workers/services/ingest.py:1 BLE001"]
    assert list(silenced(Source("om_workers/tasks/observe.py", line))) == []


def silenced(source: Source) -> Iterator[str]:
    for number, line in enumerate(source.text.splitlines(), 1):
        found = NOQA.search(line)
        for rule in re.findall(r"[A-Z]+\d+", found.group(1) if found else ""):
            allowed = tuple(SILENCED.get(rule, ()))
            if GUARDED.match(rule) and not source.path.startswith(allowed):
                yield f"{source.path}:{number} {rule}"
