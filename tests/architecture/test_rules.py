"""The engine's rulebook and its citations stand for each other."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.architecture.sources import ROOT, Source, sources

RULEBOOK = "om_workers/engine/RULES.md"
LONGEST = 300
_RULE = re.compile(r"^\*\*(\d+\.\d+)\*\*", re.MULTILINE)
_SECTION = re.compile(r"^## (\d+) ", re.MULTILINE)
_ITEM = r"\d+(?:\.\d+)?(?:-\d+(?:\.\d+)?)?"
_CITED = re.compile(rf"\bRULES\s+({_ITEM}(?:(?:,\s*|\s+and\s+){_ITEM})*)")
HERE = "tests/architecture/test_rules.py"


def test_every_rule_that_is_cited_stands_in_the_rulebook() -> None:
    """A citation of nothing sends its reader looking for a rule that somebody removed or never wrote."""
    known = known_rules()
    wrong = [f"{source.path} {rule}" for source in cited_in() for rule in citations(source.text) if rule not in known]
    assert wrong == []


def test_every_rule_is_cited_where_it_is_kept_or_proven() -> None:
    """A rule that no code and no test names is a wish: nobody notices when it stops being true."""
    cited = {rule for source in cited_in() for rule in citations(source.text)}
    assert [rule for rule in _RULE.findall(rulebook()) if rule not in cited] == []


def test_rules_are_numbered_without_gaps_and_short_enough_to_be_read() -> None:
    """A gap is taken for a rule that is missing."""
    rules = _RULE.findall(rulebook())
    by_section = {section: [rule for rule in rules if rule.startswith(f"{section}.")] for section in sections()}
    for section, found in by_section.items():
        assert found == [f"{section}.{number}" for number in range(1, len(found) + 1)]
    assert sum(map(len, by_section.values())) == len(rules)
    assert rulebook().count("\n") <= LONGEST


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("(RULES 4.5)", ["4.5"]),
        ("(RULES 4.5, 4.6).", ["4.5", "4.6"]),
        ("(RULES 2.4-2.6): it", ["2.4", "2.5", "2.6"]),
        ("RULES 5.1, 5.5 and 5.6", ["5.1", "5.5", "5.6"]),
        ("RULES\n    8.4", ["8.4"]),
        ("RULES 4, 5", ["4", "5"]),
        ("RULES[lane] = 5", []),
    ],
)
def test_citations_are_seen_in_every_form(text: str, rules: list[str]) -> None:
    assert list(citations(text)) == rules


def cited_in() -> list[Source]:
    return [source for source in sources(("om_workers", "om_api", "tests")) if source.path != HERE]


def known_rules() -> set[str]:
    return {*_RULE.findall(rulebook()), *sections()}


def sections() -> list[str]:
    return _SECTION.findall(rulebook())


def rulebook() -> str:
    return (ROOT / RULEBOOK).read_text(encoding="utf-8")


def citations(text: str) -> Iterator[str]:
    for cited in _CITED.finditer(text):
        for item in re.findall(_ITEM, cited.group(1)):
            yield from expanded(item)


def expanded(item: str) -> Iterator[str]:
    """``2.4-2.6`` as the three rules it names; anything else is one."""
    first, _, last = item.partition("-")
    if not last:
        yield first
        return
    section, start = first.split(".")
    yield from (f"{section}.{number}" for number in range(int(start), int(last.split(".")[1]) + 1))
