"""When a memory is planned, what it is planned upon, and who makes jobs."""

from __future__ import annotations

from tests.mutants.mutant import Edit, Mutant

_PLANNING = "om_workers/services/planning.py"
_OPERATE = "om_workers/services/operate.py"
_THREADS = "om_workers/services/threads.py"
_STATE = "om_workers/services/state.py"
_MANUAL = "om_workers/services/manual.py"
_PLAN = "om_workers/engine/plan.py"
_FIRST_SCHEMA = "om_workers/adapters/sql/migrations/versions/0001_the_first_schema.py"
_COVERAGE = "tests/protocol/test_cases_coverage.py"
_SENTENCES = "tests/protocol/test_sentences.py"
_OPERATORS = "tests/protocol/test_operators.py"

PLANNING = (
    Mutant(
        "append-does-not-plan",
        "7.3",
        "Storing a step plans.",
        (
            Edit("om_workers/services/ingest.py", "import MemoryView\n", "import MemoryView, view_in\n"),
            Edit(
                "om_workers/services/ingest.py",
                "view = plan_memory(unit, actor_model=command.actor_model)",
                "view = view_in(ports, unit.tx)",
            ),
        ),
        (f"{_COVERAGE}::test_a_huge_first_message_is_observed_with_buffering_too[sqlite]",),
    ),
    Mutant(
        "commit-does-not-plan",
        "7.3",
        "Every outcome of a job plans.",
        (Edit("om_workers/services/commit.py", "            plan_memory(unit)\n", ""),),
        (f"{_COVERAGE}::test_a_backlog_drains_oldest_first_in_bounded_ranges[sqlite]",),
    ),
    Mutant(
        "nothing-to-do-does-not-plan",
        "7.3",
        "A job that finds nothing to do plans.",
        (
            Edit(
                "om_workers/services/claim.py",
                "            plan_memory(unit)\n            return None",
                "            return None",
            ),
        ),
        (
            "tests/protocol/test_sentences_of_deletes.py::test_a_job_that_finds_nothing_to_do_makes_room_for_the_next[sqlite]",
        ),
    ),
    Mutant(
        "delete-does-not-plan",
        "7.3",
        "Deleting a message plans.",
        (Edit("om_workers/services/delete.py", "        plan_memory(unit)\n", ""),),
        ("tests/protocol/test_deletes.py::test_its_neighbours_are_observed_again_in_their_place[sqlite]",),
    ),
    Mutant(
        "cancel-does-not-plan",
        "7.3",
        "An operator's cancel plans.",
        (Edit(_OPERATE, '{"hold_until": until})\n            plan_memory(unit)\n', '{"hold_until": until})\n'),),
        (f"{_SENTENCES}::test_a_hold_ends_by_itself_without_any_new_turn[sqlite]",),
    ),
    Mutant(
        "requeue-does-not-plan",
        "7.3",
        "An operator's requeue plans.",
        (Edit(_OPERATE, "view = plan_memory(unit)\n", "view = view_in(ports, unit.tx)\n"),),
        (f"{_OPERATORS}::test_a_hold_ends_early_when_somebody_wants_the_work[sqlite-requeue]",),
    ),
    Mutant(
        "options-do-not-plan",
        "7.3",
        "New options plan.",
        (Edit(_THREADS, "        return plan_memory(unit)", "        return view"),),
        (f"{_OPERATORS}::test_a_hold_ends_early_when_somebody_wants_the_work[sqlite-options]",),
    ),
    Mutant(
        "next-time-not-written",
        "7.2",
        "The next time at which a plan could change is kept with the memory.",
        (Edit(_PLANNING, '        unit.tx.update_memory({"plan_at": plan.next_at})\n', ""),),
        (f"{_COVERAGE}::test_an_open_call_is_not_covered_until_it_times_out[sqlite]",),
    ),
    Mutant(
        "next-time-without-holds",
        "7.2",
        "Planning earlier than the time it told changes nothing.",
        (Edit(_PLAN, "(state.coverable_changes_at, idle, *held)", "(state.coverable_changes_at, idle)"),),
        ("tests/property/test_planning.py::test_planning_earlier_than_the_next_time_changes_nothing",),
    ),
    Mutant(
        "planned-once",
        "7.3",
        "What an activation makes possible is decided at once, too.",
        (Edit(_PLANNING, "_MOST_ROUNDS = 200", "_MOST_ROUNDS = 1"),),
        (f"{_COVERAGE}::test_a_backlog_drains_oldest_first_in_bounded_ranges[sqlite]",),
    ),
    Mutant(
        "jobs-sent-before-the-commit",
        "7.6",
        "Jobs are sent after the commit that makes them.",
        (
            Edit(
                "om_workers/services/unit.py",
                "        events = tx.events.added()\n",
                "        events = tx.events.added()\n        dispatch_jobs(ports, unit.made)\n",
            ),
            Edit(
                "om_workers/services/unit.py",
                "    publish_events(ports, events)\n    dispatch_jobs(ports, unit.made)\n",
                "    publish_events(ports, events)\n",
            ),
        ),
        (f"{_COVERAGE}::test_one_message_at_or_over_the_threshold_is_one_job[postgres-100-1]",),
    ),
    Mutant(
        "job-of-any-id",
        "6.1",
        "A job's id tells its place, so two that decide it make one.",
        (Edit(_PLANNING, "id=job_id(view.memory.id, view.lineage.id, lane, sequence)", "id=unit.ports.ids.new()"),),
        (f"{_SENTENCES}::test_the_id_of_a_job_is_that_of_its_place[sqlite]",),
    ),
    Mutant(
        "sequence-stands-still",
        "6.1",
        "A lane counts its jobs under the lock.",
        (Edit(_PLANNING, "sequence = lease.sequence + 1", "sequence = max(lease.sequence, 1)"),),
        (f"{_COVERAGE}::test_a_backlog_drains_oldest_first_in_bounded_ranges[sqlite]",),
    ),
    Mutant(
        "two-unfinished-jobs",
        "6.2",
        "The database lets one unfinished job of a lane stand.",
        (
            Edit(
                _FIRST_SCHEMA,
                '        ["lineage_id", "lane"],\n        unique=True,',
                '        ["lineage_id", "lane"],\n        unique=False,',
            ),
        ),
        (f"{_SENTENCES}::test_the_database_itself_lets_one_unfinished_job_of_a_lane_stand[sqlite]",),
    ),
    Mutant(
        "lane-never-taken",
        "6.2",
        "An unfinished job keeps its lane's one place.",
        (Edit(_PLAN, "not self.unfinished and (self.hold", "(self.hold"),),
        ("tests/unit/test_plan.py::test_an_unfinished_job_keeps_its_lane",),
    ),
    Mutant(
        "asked-for-twice",
        "6.2",
        "Who asks by hand joins the job that is there.",
        (Edit(_MANUAL, "if job is not None or not _has_work(view, lane):", "if not _has_work(view, lane):"),),
        (f"{_SENTENCES}::test_who_asks_by_hand_joins_the_job_that_is_there[sqlite]",),
    ),
    Mutant(
        "asked-for-wakes-nothing",
        "6.2",
        "Who asks by hand wakes a parked job.",
        (Edit(_MANUAL, "if job is not None and job.state is JobState.DEAD:", "if job is not None and lane is None:"),),
        (f"{_SENTENCES}::test_who_asks_by_hand_wakes_a_parked_job[sqlite]",),
    ),
    Mutant(
        "options-wake-nothing",
        "6.2",
        "New options wake a parked job.",
        (Edit(_THREADS, '        wake_all(unit, view, why="new options")\n', ""),),
        ("tests/protocol/test_claims.py::test_new_options_wake_a_parked_job[sqlite]",),
    ),
    Mutant(
        "illegal-change",
        "6.3",
        "A job changes its state as the table says, or not at all.",
        (Edit("om_workers/engine/jobs.py", "if after not in LEGAL[before]:", "if after not in LEGAL:"),),
        ("tests/unit/test_jobs.py::test_exactly_the_changes_of_the_table_are_legal",),
    ),
    Mutant(
        "open-call-stops-nothing",
        "4.5",
        "Coverage stops before a call without a result.",
        (
            Edit(
                _STATE,
                "for seq, until in waits if until > now]",
                "for seq, until in waits if until < thread.created_at]",
            ),
        ),
        (f"{_COVERAGE}::test_an_open_call_is_not_covered_until_it_times_out[sqlite]",),
    ),
    Mutant(
        "open-call-for-ever",
        "4.5",
        "An open call counts as closed after its time.",
        (Edit(_STATE, "[(seq, until) for seq, until in waits if until > now]", "waits"),),
        (f"{_COVERAGE}::test_an_open_call_is_not_covered_until_it_times_out[sqlite]",),
    ),
    Mutant(
        "edge-in-a-pair",
        "4.6",
        "No range ends between a call and its result.",
        (Edit("om_workers/engine/edges.py", "if open_until <= seq:", "if open_until >= 0:"),),
        ("tests/property/test_edges.py::test_no_edge_cuts_an_answered_pair_and_no_other_is_left_out",),
    ),
    Mutant(
        "limit-in-a-pair",
        "4.6",
        "No range ends in a pair where an unfinished step or an open call limits coverage.",
        (
            Edit(
                _STATE,
                "limit = _without_cut_pairs(messages, thread.id, limit, after=position.buffered_seq)",
                "limit = min(limit, last)",
            ),
        ),
        (f"{_SENTENCES}::test_a_late_result_keeps_its_call_from_being_covered_without_it[sqlite]",),
    ),
)
