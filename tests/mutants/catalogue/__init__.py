"""All mutants, by what their sentences are about."""

from __future__ import annotations

from tests.mutants.catalogue.claims import CLAIMS
from tests.mutants.catalogue.deletes import DELETES
from tests.mutants.catalogue.failures import FAILURES
from tests.mutants.catalogue.locks import LOCKS
from tests.mutants.catalogue.planning import PLANNING
from tests.mutants.catalogue.segments import SEGMENTS
from tests.mutants.catalogue.sweeping import SWEEPING
from tests.mutants.mutant import Mutant

MUTANTS: tuple[Mutant, ...] = (*LOCKS, *PLANNING, *CLAIMS, *FAILURES, *SWEEPING, *SEGMENTS, *DELETES)
