"""All mutants, by what their sentences are about."""

from __future__ import annotations

from tests.mutants.catalogue.claims import CLAIMS
from tests.mutants.catalogue.locks import LOCKS
from tests.mutants.mutant import Mutant

MUTANTS: tuple[Mutant, ...] = (*LOCKS, *CLAIMS)
