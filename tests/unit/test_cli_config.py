"""The files that a deployer edits say what the program does."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

from om_workers.bootstrap import read_options_file
from om_workers.engine.options import resolve_policy
from om_workers.engine.policy import Policy
from om_workers.settings import Settings
from tests.architecture.sources import ROOT

EXAMPLE = ROOT / "config" / "example.env"
OPTIONS = ROOT / "config" / "om.toml"
ENTRY = re.compile(r"# (?P<words>.+)\n#OM_(?P<name>[A-Z_]+)=(?P<value>.*)\n")
MODELS = {"model", "observation.model", "reflection.model"}


def entries() -> dict[str, tuple[str, str]]:
    """Setting → its words and its value in the example."""
    found = ENTRY.finditer(EXAMPLE.read_text(encoding="utf-8"))
    return {match["name"].lower(): (match["words"], match["value"]) for match in found}


def uncommented() -> dict[str, Any]:
    """The options with every line that holds one, whether behind a # or not."""
    return tomllib.loads(re.sub(r"^# (?=\w+ = )", "", OPTIONS.read_text(encoding="utf-8"), flags=re.MULTILINE))


def names(options: dict[str, Any], prefix: str = "") -> set[str]:
    found: set[str] = set()
    for key, value in options.items():
        found |= names(value, f"{key}.") if isinstance(value, dict) else {prefix + key}
    return found


def test_the_example_lists_every_setting_in_order_and_no_other() -> None:
    assert list(entries()) == list(Settings.model_fields)


@pytest.mark.parametrize("name", list(Settings.model_fields))
def test_the_example_describes_a_setting_as_the_program_does(name: str) -> None:
    assert entries()[name][0] == Settings.model_fields[name].description


@pytest.mark.parametrize("name", list(Settings.model_fields))
def test_the_example_shows_the_default(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    value = entries()[name][1]
    default = Settings.model_fields[name].get_default(call_default_factory=True)
    if default is None:
        assert value == ""
        return
    assert value
    monkeypatch.setenv(f"OM_{name.upper()}", value)
    assert getattr(Settings(), name) == default


def test_nothing_in_the_example_is_in_force_until_somebody_takes_away_a_mark() -> None:
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line and not line.startswith("#")] == []


def test_the_options_file_resolves_to_the_built_in_policy() -> None:
    options = read_options_file(Settings(options_file=OPTIONS))
    assert options
    assert resolve_policy(options) == Policy()


def test_what_the_options_file_shows_behind_a_mark_is_built_in_too() -> None:
    """The three places of a model exclude each other, so each is tried alone."""
    for kept in MODELS:
        options = uncommented()
        for place in MODELS - {kept}:
            section, _, name = place.rpartition(".")
            (options[section] if section else options).pop(name)
        assert resolve_policy(options) == Policy()


def test_the_options_file_names_every_option() -> None:
    """An option that is missing here is one that the engine accepts and nobody hears of."""
    engine = (ROOT / "om_workers" / "engine" / "options.py").read_text(encoding="utf-8")
    known = set(re.findall(r'"([a-z]+[A-Za-z]*)"', engine.split("def merge_options")[0])) - {
        "observation",
        "reflection",
    }
    assert {name.rpartition(".")[2] for name in names(uncommented())} == known
