"""Who may work on a job, for how long, and whose result counts."""

from __future__ import annotations

from tests.mutants.mutant import Edit, Mutant

_COMMIT = "om_workers/services/commit.py"
_CLAIM = "om_workers/services/claim.py"
_DISPATCHING = "om_workers/adapters/sql/dispatching.py"
_CLAIMS = "tests/protocol/test_claims.py"
_LEASES = "tests/protocol/test_leases.py"

CLAIMS = (
    Mutant(
        "expiry-refuses",
        "7.5",
        "A worker that is late commits as long as nobody has taken over.",
        (
            Edit(
                _COMMIT,
                "if _holds(claim, view):",
                "if _holds(claim, view) and (view.leases[claim.job.lane].expires_at or unit.tx.now) > unit.tx.now:",
            ),
        ),
        (f"{_CLAIMS}::test_a_late_commit_counts_as_long_as_nobody_took_over[sqlite]",),
    ),
    Mutant(
        "claim-from-living-hands",
        "7.4",
        "A job in living hands is not to be had.",
        (
            Edit(
                _CLAIM,
                "return lease.owner is None or lease.expires_at is None or lease.expires_at <= now",
                "return True",
            ),
        ),
        (f"{_CLAIMS}::test_a_job_in_living_hands_is_not_to_be_had[sqlite]",),
    ),
    Mutant(
        "heartbeat-past-deadline",
        "7.4",
        "No lease is renewed past its attempt's deadline.",
        (Edit(_DISPATCHING, "values(expires_at=within)", "values(expires_at=until)"),),
        (f"{_LEASES}::test_a_lease_is_not_renewed_past_the_attempts_deadline[sqlite]",),
    ),
    Mutant(
        "busy-commit-gives-up",
        "7.5",
        "A result waits for a database that is busy for a moment.",
        (Edit(_COMMIT, "for _ in range(_TRIES - 1):", "for _ in range(0):"),),
        (f"{_LEASES}::test_a_result_waits_for_a_database_that_is_busy_for_a_moment[sqlite]",),
    ),
)
