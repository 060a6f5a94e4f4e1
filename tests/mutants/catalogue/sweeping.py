"""What reaches the broker when, and what is done although no event asks for it."""

from __future__ import annotations

from tests.mutants.mutant import Edit, Mutant

_DISPATCH = "om_workers/services/dispatch.py"
_DISPATCHING = "om_workers/adapters/sql/dispatching.py"
_SWEEP = "om_workers/services/sweep.py"
_CLAIMS = "tests/protocol/test_claims.py"
_LEASES = "tests/protocol/test_leases.py"
_SENTENCES = "tests/protocol/test_sentences.py"
_STORE = "tests/contract/test_store_claims.py"

SWEEPING = (
    Mutant(
        "window-ignored-after-commits",
        "7.6",
        "After a commit its jobs are sent as far as the window has room.",
        (Edit(_DISPATCH, "if jobs and ports.store.dispatching.in_flight() < ports.timing.window:", "if jobs:"),),
        (f"{_CLAIMS}::test_the_window_bounds_what_waits_on_the_broker[sqlite]",),
    ),
    Mutant(
        "window-ignored-by-sweeps",
        "7.6",
        "The broker never holds more than the window.",
        (Edit(_DISPATCH, "room = ports.timing.window - length", "room = ports.timing.window"),),
        (f"{_CLAIMS}::test_the_window_bounds_what_waits_on_the_broker[sqlite]",),
    ),
    Mutant(
        "nothing-sent-after-commits",
        "7.6",
        "A job is on its way as soon as it is made, not with the next sweep.",
        (
            Edit(
                _DISPATCH,
                "ports.queue.send(ports.store.dispatching.mark_sent(jobs))",
                "ports.store.dispatching.in_flight()",
            ),
        ),
        ("tests/protocol/test_cases_coverage.py::test_one_message_at_or_over_the_threshold_is_one_job[sqlite-100-1]",),
    ),
    Mutant(
        "sent-before-its-time",
        "7.6",
        "A job that waits for its time is not sent.",
        (Edit(_DISPATCHING, "_QUEUED, JOB.c.sends == 0, JOB.c.not_before <= now\n", "_QUEUED, JOB.c.sends == 0\n"),),
        (f"{_SENTENCES}::test_a_job_that_waits_to_be_tried_again_is_not_sent_by_whoever_made_it[sqlite]",),
    ),
    Mutant(
        "sends-not-marked",
        "7.7",
        "A task that waits on the broker is not sent again.",
        (Edit(_DISPATCHING, "values(sends=JOB.c.sends + 1, sent_at=now)", "values(sends=JOB.c.sends)"),),
        (f"{_CLAIMS}::test_a_task_that_still_waits_is_not_sent_again[sqlite]",),
    ),
    Mutant(
        "resent-while-others-wait",
        "7.7",
        "Nothing is sent again while its queue is not empty.",
        (Edit(_DISPATCH, "ports.timing.resend_seconds if length == 0 else None", "ports.timing.resend_seconds"),),
        (f"{_CLAIMS}::test_a_task_that_still_waits_is_not_sent_again[sqlite]",),
    ),
    Mutant(
        "resent-at-once",
        "7.7",
        "Nothing is sent again before nobody has claimed it for five seconds.",
        (Edit(_DISPATCHING, "now - timedelta(seconds=lost_after_seconds)", "now - timedelta(seconds=0)"),),
        (f"{_CLAIMS}::test_a_lost_task_is_sent_again_only_when_its_queue_is_empty[sqlite]",),
    ),
    Mutant(
        "never-resent",
        "7.7",
        "A task that got lost is sent again.",
        (Edit(_DISPATCH, "ports.timing.resend_seconds if length == 0 else None", "None"),),
        (f"{_CLAIMS}::test_a_lost_task_is_sent_again_only_when_its_queue_is_empty[sqlite]",),
    ),
    Mutant(
        "first-come-first-served",
        "7.7",
        "What is due is sent fair over tenants.",
        (Edit(_DISPATCHING, "order_by(ranked.c.turn, ranked.c.created_at", "order_by(ranked.c.created_at"),),
        (f"{_SENTENCES}::test_a_tenant_with_much_work_does_not_keep_another_from_its_turn[sqlite]",),
    ),
    Mutant(
        "sweeps-wait-for-each-other",
        "7.7",
        "Sweeps pass over what another one holds.",
        (
            Edit(
                _DISPATCHING,
                "JOB.c.id.in_(wanted), due).with_for_update(skip_locked=True)",
                "JOB.c.id.in_(wanted), due).with_for_update()",
            ),
        ),
        (f"{_STORE}::test_jobs_that_another_transaction_holds_are_passed_over_without_waiting",),
    ),
    Mutant(
        "not-looked-at-again",
        "7.7",
        "Of two sweeps at once one sends a job.",
        (Edit(_DISPATCHING, "[job_id for job_id in wanted if job_id in free]", "list(wanted)"),),
        (f"{_STORE}::test_two_sweeps_that_overlap_at_any_statement_send_each_job_once",),
    ),
    Mutant(
        "sweep-takes-nothing-back",
        "7.7",
        "The sweep takes back what dead workers held.",
        (
            Edit(
                _SWEEP,
                "taken_back=_each(ports, due.memories_with_lost_leases(limit=_MOST_AT_ONCE), _take_back)",
                "taken_back=0",
            ),
        ),
        (f"{_LEASES}::test_a_sweep_takes_a_dead_workers_job_back_and_it_runs_once_more[sqlite]",),
    ),
    Mutant(
        "sweep-takes-from-the-living",
        "7.7",
        "The sweep takes nothing from living workers.",
        (
            Edit(
                _SWEEP,
                "lease.expires_at is not None and lease.expires_at <= unit.tx.now:",
                "lease.expires_at is not None:",
            ),
        ),
        (
            "tests/protocol/test_sentences_of_deletes.py::test_a_sweep_leaves_the_other_lane_to_its_living_worker[sqlite]",
        ),
    ),
    Mutant(
        "sweep-wakes-nothing",
        "7.7",
        "The sweep wakes parked jobs once an hour.",
        (Edit(_SWEEP, "probed=_each(ports, due.memories_with_due_probes(limit=_MOST_AT_ONCE), _probe)", "probed=0"),),
        (f"{_CLAIMS}::test_a_failing_provider_is_asked_again_later_and_later_then_only_every_hour[sqlite]",),
    ),
    Mutant(
        "sweep-plans-nothing",
        "7.7",
        "The sweep plans memories whose time has come.",
        (
            Edit(
                _SWEEP, "planned=_each(ports, due.memories_to_plan(limit=_MOST_AT_ONCE), lambda _unit: 1)", "planned=0"
            ),
        ),
        ("tests/protocol/test_cases_coverage.py::test_an_open_call_is_not_covered_until_it_times_out[sqlite]",),
    ),
    Mutant(
        "sweep-purges-nothing",
        "7.7",
        "The sweep purges what was deleted.",
        (Edit(_SWEEP, "purged=purge_deleted(ports, limit=_MOST_AT_ONCE)", "purged=0"),),
        ("tests/protocol/test_deletes.py::test_a_deleted_thread_is_purged_in_bounded_batches[sqlite]",),
    ),
    Mutant(
        "sweep-sends-nothing",
        "7.7",
        "The sweep sends what is due.",
        (Edit(_SWEEP, "sent=dispatch_due(ports)", "sent=0"),),
        (f"{_CLAIMS}::test_work_made_while_the_broker_was_away_is_sent_when_it_is_back[sqlite]",),
    ),
)
