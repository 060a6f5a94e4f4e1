from __future__ import annotations

import pytest

from om_workers.engine.parsing import AnswerKind, ParsedAnswer, parse_observer_answer


def observed(answer: str) -> ParsedAnswer:
    return parse_observer_answer(answer, finish="stop", first_seq=1, last_seq=20)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("<observations>\n* a [1]\n  * b [2]\n</observations>", "* a [1]\n  * b [2]"),
        ("<observations>* x</observations>", "* x"),
        ("Sure! <observations>* x</observations> Hope this helps.", "* x"),
        ("<OBSERVATIONS>\n* x\n</Observations>", "* x"),
        ("<observations>\n* x\n* y", "* x\n* y"),
        ("* x\n* y\n</observations>", "* x\n* y"),
        ("```xml\n<observations>\n* x\n</observations>\n```", "* x"),
        ("<observations>\n```\n* x\n```\n</observations>", "* x"),
        ("<observations>\n* x\n</observations>\n\n<observations>\n* y\n</observations>", "* x\n* y"),
        ("<observations>* x</observations><observations>* y</observations>", "* x\n* y"),
        ("<observations>\r\n* x\r\n* y\r\n</observations>", "* x\n* y"),
        ('<observations>\n<thread id="t">\n* x\n</thread>\n</observations>', "* x"),
        ('<observations><thread id="t">* x</thread></observations>', "* x"),
        ("<observations>\n* x</thread> \t\n* y\n</observations>", "* x\n* y"),
        ("<observations>\n* x</thread>, y\n</observations>", "* x&lt;/thread>, y"),
        (
            "<observations>\n* 2 > <current-task>1</current-task> x\n</observations>",
            "* 2 > &lt;current-task>1&lt;/current-task> x",
        ),
        ("<observations>\n* [O3] x\n  * [O3-N1] y\n</observations>", "* x\n  * y"),
        ("<observations>\n* x\n\n\n\n* y\n</observations>", "* x\n\n* y"),
        ("<think>maybe <observations>* no</observations></think>\n<observations>* x</observations>", "* x"),
        ("<observations>\nDate: Jun 1, 2026\nSummary:\n* x\n</observations>", "Date: Jun 1, 2026\nSummary:\n* x"),
    ],
)
def test_the_log_is_found_however_the_tags_were_written(answer: str, text: str) -> None:
    parsed = observed(answer)

    assert (parsed.kind, parsed.text) == (AnswerKind.OBSERVATIONS, text)


def test_task_and_response_are_taken_out_of_the_log() -> None:
    parsed = observed(
        "<observations>\n* a\n<current-task>\nbook the table\n</current-task>\n* b\n</observations>"
        "<suggested-response>ask when</suggested-response>"
    )

    assert parsed == ParsedAnswer(
        AnswerKind.OBSERVATIONS, "* a\n\n* b", current_task="book the table", suggested_response="ask when"
    )


def test_task_and_response_come_without_observations_too() -> None:
    parsed = observed("<observations></observations>\n<current-task>wait</current-task>")

    assert (parsed.kind, parsed.current_task) == (AnswerKind.EMPTY, "wait")


@pytest.mark.parametrize(
    ("answer", "task"),
    [
        ("<observations>* a</observations>\n<current-task>wait\n<suggested-response>ok</suggested-response>", "wait"),
        ("<observations>* a</observations>\n<current-task>wait", "wait"),
        ("<observations>* a</observations>\n<current-task>None.</current-task>", None),
        ("<observations>* a</observations>\n<current-task></current-task>", None),
        ("<current-task>one</current-task>\n<current-task>two</current-task>\n<observations>* a</observations>", "one"),
    ],
)
def test_a_careless_task_tag_is_read(answer: str, task: str | None) -> None:
    parsed = observed(answer)

    assert (parsed.text, parsed.current_task) == ("* a", task)
