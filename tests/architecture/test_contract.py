"""Every mutant of the protocol still fits the code, and the contract for operators names all of them."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.architecture.sources import ROOT, Source, sources
from tests.mutants.catalogue import MUTANTS
from tests.mutants.contract import MARK, PAGE, links_of, rows_of
from tests.mutants.mutant import MOST_SEEDS, Mutant, Seeds, changed_texts
from tests.mutants.no_effect import NO_EFFECT

PROTOCOL = ("6.", "7.", "10.")
MOST_LINES = 60
_RULE = re.compile(r"^\*\*(\d+\.\d+)\*\*", re.MULTILINE)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutants_edits_fit_the_code_exactly_once_and_what_comes_out_can_be_read(mutant: Mutant) -> None:
    """A mutant of code that has changed proves nothing any more."""
    for path, text in changed_texts(mutant, ROOT).items():
        assert text != path.read_text(encoding="utf-8")
        if path.suffix == ".py":
            compile(text, str(path), "exec")


def test_what_has_no_effect_is_still_in_the_code() -> None:
    """A reason why something does not show is worth nothing once it is gone."""
    for unseen in NO_EFFECT:
        changed_texts(Mutant("unseen", unseen.rule, unseen.sentence, unseen.edits, ()), ROOT)


def test_every_test_that_is_to_kill_is_there() -> None:
    known = {source.path: names(source) for source in sources(("tests",))}
    tests = [test.partition("::") for mutant in MUTANTS for test in killers(mutant)]
    assert [test for test in tests if test[2].partition("[")[0] not in known.get(test[0], ())] == []


def test_searches_are_short() -> None:
    """Whatever needs many seeds to show deserves a test of its own."""
    searches = [mutant.dies_in for mutant in MUTANTS if isinstance(mutant.dies_in, Seeds)]
    assert all(0 < search.count <= MOST_SEEDS for search in searches)


def test_no_two_mutants_have_one_name_or_one_sentence() -> None:
    for of_each in ([mutant.name for mutant in MUTANTS], [mutant.sentence for mutant in MUTANTS]):
        assert [value for value, times in Counter(of_each).items() if times > 1] == []


def test_every_rule_of_the_protocol_has_its_mutants() -> None:
    rules = _RULE.findall((ROOT / "om_workers/engine/RULES.md").read_text(encoding="utf-8"))
    covered = {mutant.rule for mutant in MUTANTS}
    assert covered <= set(rules)
    assert [rule for rule in rules if rule.startswith(PROTOCOL) and rule not in covered] == []


def test_the_promises_refer_to_mutants_that_there_are() -> None:
    known = {mutant.name for mutant in MUTANTS}
    assert [name for name in links_of(page().partition(MARK)[0]) if name not in known] == []


def test_the_table_names_every_mutant_and_says_what_each_says_unless_none_is_written() -> None:
    """A table of half the mutants, or of what they once said, looks like a proof and is none."""
    tables = page().partition(MARK)[2]
    if not tables.strip():
        return
    assert sorted(rows_of(tables)) == sorted(mutant.name for mutant in MUTANTS)
    assert [mutant.name for mutant in MUTANTS if f"| {mutant.rule} | {mutant.sentence} |" not in tables] == []
    assert [one.sentence for one in NO_EFFECT if f"| {one.rule} | {one.sentence} | {one.reason} |" not in tables] == []


def test_the_promises_fit_on_a_screen_and_each_names_its_test_and_its_mutants() -> None:
    promises = page().partition(MARK)[0].splitlines()
    assert len(promises) <= MOST_LINES
    listed = [line for line in promises if line.startswith("- ")]
    assert [line for line in listed if "[test](../tests/" not in line or not links_of(line)] == []


def test_every_link_of_the_contract_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)", page())
    assert [link for link in links if not ((ROOT / PAGE).parent / link).exists()] == []


def page() -> str:
    return (ROOT / PAGE).read_text(encoding="utf-8")


def killers(mutant: Mutant) -> tuple[str, ...]:
    return () if isinstance(mutant.dies_in, Seeds) else mutant.dies_in


def names(source: Source) -> set[str]:
    return {function.name for function in source.functions()}
