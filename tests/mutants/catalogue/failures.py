"""What becomes of a job that fails, is lost, is parked or is cancelled."""

from __future__ import annotations

from tests.mutants.mutant import Edit, Mutant

_FAILURE = "om_workers/services/failure.py"
_SETTLE = "om_workers/services/settle.py"
_CANCEL = "om_workers/services/cancel.py"
_OPERATE = "om_workers/services/operate.py"
_RETRY = "om_workers/engine/retry.py"
_WAKING = "om_workers/services/waking.py"
_JOBS = "om_workers/engine/jobs.py"
_RETRIES = "tests/unit/test_retry.py"
_ANSWERS = "tests/protocol/test_cases_answers.py"
_OPERATORS = "tests/protocol/test_operators.py"
_SENTENCES = "tests/protocol/test_sentences.py"
_CLAIMS = "tests/protocol/test_claims.py"

FAILURES = (
    Mutant(
        "one-patience-for-all",
        "6.4",
        "Failures are counted by kind.",
        (
            Edit(
                _FAILURE,
                "        job.failures.get(failure.outcome, 0) + 1,\n",
                "        sum(job.failures.values()) + 1,\n",
            ),
        ),
        (f"{_SENTENCES}::test_each_kind_of_failure_has_a_patience_of_its_own[sqlite]",),
    ),
    Mutant(
        "failures-not-counted",
        "6.4",
        "Every kind of failure has an end.",
        (
            Edit(
                _FAILURE,
                "failures = {**job.failures, failure.outcome: job.failures.get(failure.outcome, 0) + 1}",
                "failures = dict(job.failures)",
            ),
        ),
        (f"{_CLAIMS}::test_a_failing_provider_is_asked_again_later_and_later_then_only_every_hour[sqlite]",),
    ),
    Mutant(
        "counts-outlive-the-size",
        "6.7",
        "A range that was made smaller starts all counts afresh.",
        (Edit(_FAILURE, '"failures": failures if last_seq is None else {},', '"failures": failures,'),),
        (f"{_SENTENCES}::test_a_range_that_was_made_smaller_has_all_its_patience_again[sqlite]",),
    ),
    Mutant(
        "retry-at-once",
        "6.5",
        "A retry waits, longer each time.",
        (
            Edit(
                _FAILURE,
                '"not_before": now + timedelta(seconds=decision.delay_seconds)',
                '"not_before": now + timedelta(seconds=0)',
            ),
        ),
        (f"{_SENTENCES}::test_a_task_that_comes_before_its_jobs_time_does_nothing[sqlite]",),
    ),
    Mutant(
        "retries-in-step",
        "6.5",
        "Chance spreads retries, so that they do not come all at once.",
        (Edit(_RETRY, "base * (1 + 0.2 * jitter)", "base"),),
        (f"{_RETRIES}::test_chance_spreads_a_delay_by_a_fifth",),
    ),
    Mutant(
        "deaf-to-the-provider",
        "6.5",
        "No retry comes before the time that the provider asks for.",
        (Edit(_RETRY, "max(delay, min(retry_after_seconds or 0.0, PROBE_SECONDS))", "delay"),),
        (f"{_RETRIES}::test_what_the_provider_asks_for_is_waited_for_within_reason",),
    ),
    Mutant(
        "empty-not-asked-twice",
        "6.6",
        "An empty answer for much text is asked for once more.",
        (Edit(_RETRY, "Outcome.EMPTY: Rule(tries=1, wait=False", "Outcome.EMPTY: Rule(tries=0, wait=False"),),
        (f"{_ANSWERS}::test_an_empty_answer_for_much_text_is_asked_for_once_more[sqlite]",),
    ),
    Mutant(
        "empty-always-asked-twice",
        "6.6",
        "An empty answer for little text is believed.",
        (Edit("om_workers/services/observe.py", "_WORTH_ASKING_TWICE = 500", "_WORTH_ASKING_TWICE = 0"),),
        (f"{_ANSWERS}::test_nothing_to_record_is_covered_by_a_stand_in[sqlite-]",),
    ),
    Mutant(
        "cut-off-answer-asked-again",
        "6.6",
        "A range whose answer was cut off is made smaller at once.",
        (
            Edit(
                "om_workers/services/observe.py",
                'if reply.finish == "length" else Outcome.UNUSABLE',
                "if not reply.finish else Outcome.UNUSABLE",
            ),
        ),
        (f"{_ANSWERS}::test_a_cut_off_answer_makes_the_range_smaller_at_once[sqlite]",),
    ),
    Mutant(
        "never-parked",
        "6.6",
        "A job that has no more patience is parked.",
        (
            Edit(
                _FAILURE,
                "JobState.DEAD if decision.step is NextStep.PARK else",
                "JobState.DEAD if decision is None else",
            ),
        ),
        (f"{_CLAIMS}::test_a_provider_that_refuses_the_key_parks_the_job_at_once[sqlite]",),
    ),
    Mutant(
        "wakes-with-old-failures",
        "6.6",
        "A woken job has all its patience again.",
        (Edit(_WAKING, '{"failures": {}, "sends"', '{"sends"'),),
        (f"{_SENTENCES}::test_a_woken_job_has_all_its_patience_again[sqlite]",),
    ),
    Mutant(
        "not-half",
        "6.7",
        "Smaller means half, so that one bad message is found in few steps.",
        (
            Edit(
                "om_workers/engine/edges.py",
                "if edge.tokens <= half), edges[0])",
                "if edge.tokens <= half), edges[-1])",
            ),
        ),
        ("tests/property/test_edges.py::test_halving_shrinks_at_every_step_down_to_one_edge",),
    ),
    Mutant(
        "range-skipped",
        "6.7",
        "Something always stands for what leaves.",
        (
            Edit(_SETTLE, "import Observation, store_observation", "import Observation, finish_job"),
            Edit(
                _SETTLE,
                "    store_observation(unit, view, job, result)\n",
                '    span = {"buffered_seq": job.last_seq, "active_seq": job.last_seq, "pending_tokens": 0}\n'
                "    unit.tx.segments.update_position(view.lineage.id, view.thread.id, span)\n"
                "    finish_job(unit, view, job, failure.outcome, error=result.text)\n",
            ),
        ),
        (f"{_ANSWERS}::test_nothing_to_record_is_covered_by_a_stand_in[sqlite-]",),
    ),
    Mutant(
        "stand-in-without-sources",
        "6.8",
        "A stand-in names the messages that it stands for.",
        (Edit("om_workers/engine/standin.py", '{began} {_reference(first.seq, last.seq)}"', '{began}"'),),
        ("tests/unit/test_standin.py::test_a_stand_in_names_its_messages_as_sources",),
    ),
    Mutant(
        "quarantine-never",
        "6.9",
        "A job that was lost twice waits in quarantine.",
        (
            Edit(
                _FAILURE,
                "job.quarantined or failures.get(Outcome.LOST, 0) >= LOSSES_BEFORE_QUARANTINE",
                "job.quarantined",
            ),
        ),
        (f"{_OPERATORS}::test_a_job_that_was_lost_twice_waits_in_quarantine_and_stays_there[sqlite]",),
    ),
    Mutant(
        "quarantine-left",
        "6.9",
        "A job in quarantine stays there.",
        (Edit(_FAILURE, "job.quarantined or failures.get(Outcome.LOST, 0) >=", "failures.get(Outcome.LOST, 0) =="),),
        (f"{_OPERATORS}::test_a_job_that_was_lost_twice_waits_in_quarantine_and_stays_there[sqlite]",),
    ),
    Mutant(
        "quarantine-shares-a-queue",
        "6.9",
        "Quarantine is a queue of its own.",
        (Edit(_JOBS, "WorkQueue.QUARANTINE if quarantined else WorkQueue(lane.value)", "WorkQueue(lane.value)"),),
        (f"{_OPERATORS}::test_a_job_that_was_lost_twice_waits_in_quarantine_and_stays_there[sqlite]",),
    ),
    Mutant(
        "quarantine-open-to-all",
        "6.9",
        "No other process takes a job in quarantine, whatever task it gets.",
        (
            Edit(
                "om_workers/services/claim.py",
                "        if job.quarantined and not apart:\n            return None\n",
                "",
            ),
        ),
        (f"{_OPERATORS}::test_an_old_task_of_a_job_in_quarantine_does_not_bring_it_to_an_ordinary_worker[sqlite]",),
    ),
    Mutant(
        "quarantined-loss-retried",
        "6.9",
        "A loss in quarantine makes the range smaller at once.",
        (
            Edit(
                _RETRY, "failures > rule.tries or (quarantined and outcome is Outcome.LOST):", "failures > rule.tries:"
            ),
        ),
        (f"{_RETRIES}::test_a_loss_in_quarantine_counts_against_the_range_at_once",),
    ),
    Mutant(
        "cancel-keeps-the-lease",
        "6.10",
        "Cancelling takes the lane from whoever works on it.",
        (Edit(_CANCEL, "    release_lease(unit, view, job.lane)\n", ""),),
        (f"{_SENTENCES}::test_an_ended_job_leaves_its_lane_free_and_its_fence_raised[sqlite]",),
    ),
    Mutant(
        "cancel-without-hold",
        "6.10",
        "A lane whose job an operator cancelled rests for an hour.",
        (
            Edit(
                _OPERATE, '            unit.tx.jobs.update_lease(job.lineage_id, job.lane, {"hold_until": until})\n', ""
            ),
        ),
        (f"{_OPERATORS}::test_a_cancelled_job_commits_nothing_and_its_lane_rests_for_an_hour[sqlite]",),
    ),
    Mutant(
        "hold-outlives-options",
        "6.10",
        "A lane no longer rests once the options change.",
        (
            Edit(
                "om_workers/services/threads.py",
                "            if lease.hold_until is not None:\n",
                "            if lease.hold_until is None:\n",
            ),
        ),
        (f"{_OPERATORS}::test_a_hold_ends_early_when_somebody_wants_the_work[sqlite-options]",),
    ),
    Mutant(
        "hold-outlives-requeue",
        "6.10",
        "A lane no longer rests once the operator requeues.",
        (Edit(_OPERATE, '        unit.tx.jobs.update_lease(job.lineage_id, job.lane, {"hold_until": None})\n', ""),),
        (f"{_OPERATORS}::test_a_hold_ends_early_when_somebody_wants_the_work[sqlite-requeue]",),
    ),
    Mutant(
        "requeued-and-not-sent",
        "6.10",
        "Requeueing has a parked or waiting job run now.",
        (
            Edit(
                _OPERATE,
                "    unit.made.append(DueJob(job.id, job.memory_id, job.lane, quarantined=job.quarantined))\n",
                "",
            ),
        ),
        (f"{_OPERATORS}::test_a_parked_job_runs_again_when_it_is_requeued[sqlite]",),
    ),
)
