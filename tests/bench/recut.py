"""Re-cuts a conversation file as harder clients would send it: `python -m tests.bench.recut IN OUT [THREADS]`.

Calls and results go into separate messages, 2 % of the messages come twice, and 1 % of them come late: behind the
next message. The same input gives the same output.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

REPEATED_EVERY = 50
LATE_EVERY = 100


def split(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The message with each tool call's result in a message of its own, and what was said afterwards in a third."""
    together: list[dict[str, Any]] = []
    number = 0
    for part in message["parts"]:
        if part["type"] == "tool-result":
            if together:
                yield message | {"id": f"{message['id']}.{number}", "parts": together}
                together, number = [], number + 1
            yield message | {"id": f"{message['id']}.{number}", "role": "tool", "parts": [part]}
            number += 1
        else:
            together.append(part)
    if together:
        yield message | {"id": message["id"] if number == 0 else f"{message['id']}.{number}", "parts": together}


def recut(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One thread's messages, re-cut."""
    cut: list[dict[str, Any]] = []
    late: dict[str, Any] | None = None
    for number, message in enumerate(one for whole in messages for one in split(whole)):
        if number % LATE_EVERY == LATE_EVERY - 1 and late is None:
            late = message
            continue
        cut.append(message)
        if late is not None:
            cut.append(late)
            late = None
        if number % REPEATED_EVERY == REPEATED_EVERY - 1:
            cut.append(message)
    return cut if late is None else [*cut, late]


def main() -> None:
    """Re-cut the file that the arguments name."""
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    most = int(sys.argv[3]) if len(sys.argv) > 3 else None
    threads: dict[str, list[dict[str, Any]]] = {}
    for line in source.read_text(encoding="utf-8").splitlines():
        message = json.loads(line)
        threads.setdefault(message["thread_id"], []).append(message)
    chosen = list(threads.values())[:most]
    lines = [json.dumps(message, ensure_ascii=False) for messages in chosen for message in recut(messages)]
    target.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
