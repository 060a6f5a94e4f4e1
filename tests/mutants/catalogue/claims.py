"""Who may work on a job, for how long, and whose result counts."""

from __future__ import annotations

from tests.mutants.mutant import Edit, Mutant, Seeds

_COMMIT = "om_workers/services/commit.py"
_CLAIM = "om_workers/services/claim.py"
_FAILURE = "om_workers/services/failure.py"
_RUNNING = "om_workers/services/running.py"
_DISPATCHING = "om_workers/adapters/sql/dispatching.py"
_LEDGER = "om_workers/adapters/sql/ledger.py"
_CALLS = "om_workers/services/calls.py"
_CLAIMS = "tests/protocol/test_claims.py"
_LEASES = "tests/protocol/test_leases.py"
_SENTENCES = "tests/protocol/test_sentences.py"
_NOTED = "patiently(ports, claim, partial(ports.store.ledgers.finish, call_id, end))"
_FENCE_COMPARED = Edit(_COMMIT, "        and view.leases[claim.job.lane].fence == claim.fence\n", "")

CLAIMS = (
    Mutant(
        "fence-not-compared",
        "7.5",
        "A commit is refused once another worker has taken over.",
        (_FENCE_COMPARED,),
        (f"{_SENTENCES}::test_who_was_taken_over_commits_nothing_while_the_other_still_works[sqlite]",),
    ),
    Mutant(
        "zombies-commit",
        "7.5",
        "Whatever is killed, frozen or delayed, no result comes in twice or too late.",
        (
            Edit(
                _COMMIT,
                "job is not None\n        and job.id == claim.job.id\n        and job.state is JobState.RUNNING\n"
                "        and view.leases[claim.job.lane].fence == claim.fence\n        and view",
                "job is not None\n        and view",
            ),
        ),
        Seeds(60, "zombies"),
    ),
    Mutant(
        "any-job-may-commit",
        "7.5",
        "A commit is refused when its job is over and another has the lane.",
        (_FENCE_COMPARED, Edit(_COMMIT, "        and job.id == claim.job.id\n", "")),
        (f"{_SENTENCES}::test_whose_job_was_cancelled_commits_nothing_into_the_next_one[sqlite]",),
    ),
    Mutant(
        "any-state-may-commit",
        "7.5",
        "A commit is refused when its job does not run.",
        (_FENCE_COMPARED, Edit(_COMMIT, "        and job.state is JobState.RUNNING\n", "")),
        (f"{_LEASES}::test_a_worker_that_lost_its_lease_asks_no_further_and_leaves_no_call_open[sqlite]",),
    ),
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
        "busy-commit-gives-up",
        "7.5",
        "A result waits for a database that is busy for a moment.",
        (Edit(_COMMIT, "for _ in range(_TRIES - 1):", "for _ in range(0):"),),
        (f"{_LEASES}::test_a_result_waits_for_a_database_that_is_busy_for_a_moment[sqlite]",),
    ),
    Mutant(
        "fence-stands-still",
        "7.4",
        "A claim raises its lane's fence.",
        (Edit(_CLAIM, "fence=lease.fence + 1,", "fence=lease.fence,"),),
        (f"{_SENTENCES}::test_every_attempt_has_a_higher_fence_than_all_before_it[sqlite]",),
    ),
    Mutant(
        "fence-not-raised-at-the-end",
        "6.10",
        "A job that ends raises its lane's fence.",
        (Edit(_FAILURE, 'free | {"fence": view.leases[lane].fence + 1}', "free"),),
        (f"{_SENTENCES}::test_an_ended_job_leaves_its_lane_free_and_its_fence_raised[sqlite]",),
    ),
    Mutant(
        "claim-from-living-hands",
        "7.4",
        "A job in living hands is not to be had.",
        (
            Edit(
                _CLAIM,
                "return lease.owner is None or lease.expires_at is None or lease.expires_at <= now",
                "return now >= now",
            ),
        ),
        (f"{_CLAIMS}::test_a_job_in_living_hands_is_not_to_be_had[sqlite]",),
    ),
    Mutant(
        "claim-before-its-time",
        "7.4",
        "A job is taken once its time has come.",
        (
            Edit(
                _CLAIM,
                "job.state is not JobState.QUEUED or job.not_before > unit.tx.now or view",
                "job.state is not JobState.QUEUED or view",
            ),
        ),
        (f"{_SENTENCES}::test_a_task_that_comes_before_its_jobs_time_does_nothing[sqlite]",),
    ),
    Mutant(
        "take-over-is-no-loss",
        "7.4",
        "A job taken from one whose lease ran out counts as lost.",
        (
            Edit(
                _CLAIM,
                "            lose_attempt(unit, view, job)\n",
                "            unit.tx.jobs.update(job, JobState.QUEUED, {})\n",
            ),
        ),
        (f"{_SENTENCES}::test_a_take_over_counts_as_a_loss_and_ends_the_former_attempt[sqlite]",),
    ),
    Mutant(
        "range-chosen-anew",
        "7.4",
        "A retry keeps the range that was chosen at the first claim.",
        (
            Edit(
                _CLAIM,
                "if job.first_seq == first and job.last_seq is not None:",
                "if job.first_seq is None and job.last_seq is not None:",
            ),
        ),
        (f"{_SENTENCES}::test_a_retry_keeps_its_range_whatever_was_said_meanwhile[sqlite]",),
    ),
    Mutant(
        "lease-never-renewed",
        "7.4",
        "A heartbeat renews the leases of what is worked on.",
        (Edit(_DISPATCHING, "values(expires_at=within)", "values(expires_at=LEASE.c.expires_at)"),),
        (f"{_LEASES}::test_a_renewed_lease_is_not_taken_back[sqlite]",),
    ),
    Mutant(
        "heartbeat-past-deadline",
        "7.4",
        "No lease is renewed past its attempt's deadline.",
        (Edit(_DISPATCHING, "values(expires_at=within)", "values(expires_at=until)"),),
        (f"{_LEASES}::test_a_lease_is_not_renewed_past_the_attempts_deadline[sqlite]",),
    ),
    Mutant(
        "heartbeat-renews-all",
        "7.4",
        "No lease is renewed on which nobody works any more.",
        (
            Edit(
                _DISPATCHING,
                "LEASE.c.owner == owner, LEASE.c.job_id.in_(job_ids))\n                .values",
                "LEASE.c.owner == owner)\n                .values",
            ),
            Edit(_RUNNING, "    if not before:\n        return 0\n", ""),
        ),
        (f"{_LEASES}::test_a_lease_whose_worker_gave_up_is_not_renewed[sqlite]",),
    ),
    Mutant(
        "call-goes-on",
        "7.4",
        "A heartbeat ends the model call of a lease that was lost.",
        (Edit(_RUNNING, "            _end_call(ports, claim)\n", ""),),
        (f"{_LEASES}::test_a_heartbeat_ends_the_call_of_a_lease_that_another_worker_has[sqlite]",),
    ),
    Mutant(
        "hand-back-is-a-loss",
        "7.9",
        "What a worker hands back when it shuts down counts against nothing.",
        (Edit(_RUNNING, 'Failure(Outcome.HANDED_BACK, "the', 'Failure(Outcome.LOST, "the'),),
        ("tests/protocol/test_operators.py::test_a_hand_back_is_no_loss[sqlite]",),
    ),
    Mutant(
        "nothing-handed-back",
        "7.9",
        "A worker that shuts down hands its jobs back at once.",
        (Edit(_RUNNING, "view.leases[job.lane].owner == running.owner:", "view.leases[job.lane].owner is None:"),),
        (f"{_LEASES}::test_a_job_handed_back_at_shutdown_runs_again_and_counts_no_failure[sqlite]",),
    ),
    Mutant(
        "call-not-started",
        "7.8",
        "A model call is in the ledger before it is made.",
        (Edit(_CLAIM, "    unit.tx.ledger.start(start_of_call(claim, claim.call_id, now))\n", ""),),
        (f"{_SENTENCES}::test_every_call_is_in_the_ledger_with_how_it_ended[sqlite]",),
    ),
    Mutant(
        "call-not-finished",
        "7.8",
        "A model call is finished in the ledger after it, whatever becomes of the job.",
        (
            Edit(
                _CALLS,
                f"    {_NOTED}\n    return Called(reply)",
                "    return Called(reply)",
            ),
        ),
        (f"{_SENTENCES}::test_every_call_is_in_the_ledger_with_how_it_ended[sqlite]",),
    ),
    Mutant(
        "failed-call-not-finished",
        "7.8",
        "A model call that failed is finished in the ledger, too.",
        (
            Edit(
                _CALLS,
                f"        {_NOTED}\n        return Called(None",
                "        return Called(None",
            ),
        ),
        (f"{_SENTENCES}::test_every_call_is_in_the_ledger_with_how_it_ended[sqlite]",),
    ),
    Mutant(
        "answer-lost-with-its-note",
        "7.8",
        "An answer waits for a database that cannot note its call for a moment.",
        (
            Edit(
                _CALLS,
                f"    {_NOTED}\n    return Called(reply)",
                "    ports.store.ledgers.finish(call_id, end)\n    return Called(reply)",
            ),
        ),
        (f"{_LEASES}::test_an_answer_waits_for_a_database_that_cannot_note_its_call_for_a_moment[sqlite]",),
    ),
    Mutant(
        "call-left-open",
        "7.8",
        "A call that never finished is closed as unknown with its attempt.",
        (
            Edit(
                _LEDGER,
                'MODEL_CALL.c.attempt == attempt, MODEL_CALL.c.state == "started")',
                'MODEL_CALL.c.attempt < 0, MODEL_CALL.c.state == "started")',
            ),
        ),
        (f"{_LEASES}::test_a_sweep_takes_a_dead_workers_job_back_and_it_runs_once_more[sqlite]",),
    ),
    Mutant(
        "call-of-an-ended-attempt",
        "7.8",
        "No further call begins once its attempt has ended.",
        (Edit(_LEDGER, "ATTEMPT.c.n == call.attempt, ATTEMPT.c.ended_at.is_(None))", "ATTEMPT.c.n == call.attempt)"),),
        (f"{_LEASES}::test_a_worker_that_lost_its_lease_asks_no_further_and_leaves_no_call_open[sqlite]",),
    ),
)
