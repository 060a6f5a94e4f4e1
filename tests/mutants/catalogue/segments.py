"""How observations and reflections become, and what they stand for."""

from __future__ import annotations

from tests.mutants.mutant import Edit, Mutant

_RESULTS = "om_workers/services/results.py"
_ACTIVATE = "om_workers/services/activate.py"
_APPLY = "om_workers/services/apply_reflection.py"
_REFLECT = "om_workers/services/reflect.py"
_REFLECTION = "om_workers/engine/reflection.py"
_ANSWERS = "tests/protocol/test_cases_answers.py"
_COVERAGE = "tests/protocol/test_cases_coverage.py"
_SENTENCES = "tests/protocol/test_sentences.py"
_TAKES = f"{_SENTENCES}::test_an_activation_takes_what_leaves_the_floor_and_moves_the_position[sqlite]"

SEGMENTS = (
    Mutant(
        "straight-to-active",
        "4.1",
        "An observation becomes a buffered segment; activation is the only way to active.",
        (Edit(_RESULTS, 'state="buffered" if job.lane is Lane.OBSERVE', 'state="active" if job.lane is Lane.OBSERVE'),),
        (f"{_COVERAGE}::test_a_backlog_drains_oldest_first_in_bounded_ranges[sqlite]",),
    ),
    Mutant(
        "buffered-position-stays",
        "7.5",
        "A stored observation moves the buffered position behind it.",
        (Edit(_RESULTS, '{"buffered_seq": job.last_seq, "buffered_tokens": view', '{"buffered_tokens": view'),),
        (f"{_COVERAGE}::test_a_backlog_drains_oldest_first_in_bounded_ranges[sqlite]",),
    ),
    Mutant(
        "buffered-tokens-stay",
        "7.5",
        "What is accepted comes in with its counters.",
        (
            Edit(
                _RESULTS,
                '"buffered_tokens": view.lineage.buffered_tokens + segment.tokens,\n',
                '"buffered_tokens": view.lineage.buffered_tokens,\n',
            ),
        ),
        ("tests/protocol/test_leases.py::test_a_sweep_takes_a_dead_workers_job_back_and_it_runs_once_more[sqlite]",),
    ),
    Mutant(
        "position-one-short",
        "4.4",
        "An activation moves the active position behind what it takes.",
        (Edit(_ACTIVATE, '"active_seq": taken[-1].last_seq,', '"active_seq": taken[-1].last_seq - 1,'),),
        (_TAKES,),
    ),
    Mutant(
        "one-segment-too-many",
        "4.4",
        "An activation takes as many segments as leave the floor raw.",
        (Edit(_ACTIVATE, "taken = view.buffered[:count]", "taken = view.buffered[: count + 1]"),),
        (_TAKES,),
    ),
    Mutant(
        "provider-change-for-ever",
        "4.2",
        "A change of provider activates once.",
        (
            Edit(
                _ACTIVATE,
                "    if reason is ActivationReason.PROVIDER_CHANGE:\n        # Handled",
                "    if reason is None:\n        # Handled",
            ),
        ),
        ("tests/protocol/test_claims.py::test_a_change_of_provider_activates_once[sqlite]",),
    ),
    Mutant(
        "reflection-replaces-all",
        "5.2",
        "A reflection replaces the segments that it read, and later ones stay.",
        (Edit(_APPLY, "[active[source] for source in segments.sources(candidate.id)]", "list(active.values())"),),
        ("tests/protocol/test_claims.py::test_a_reflection_started_before_new_observations_keeps_them[sqlite]",),
    ),
    Mutant(
        "no-new-generation",
        "5.2",
        "An applied reflection starts a new generation.",
        (
            Edit(
                _RESULTS,
                "place = (replaced[-1].ordinal, view.lineage.generation + 1)",
                "place = (replaced[-1].ordinal, view.lineage.generation)",
            ),
        ),
        ("tests/protocol/test_sentences_of_deletes.py::test_every_applied_reflection_starts_a_generation[sqlite]",),
    ),
    Mutant(
        "longer-reflection",
        "5.4",
        "No reflection has more tokens than it replaces.",
        (Edit(_REFLECTION, "if candidate[0].strip() and candidate[1] < replaced_tokens]", "if candidate[0].strip()]"),),
        ("tests/unit/test_reflection.py::test_the_smallest_answer_wins_if_it_is_smaller_than_what_it_replaces",),
    ),
    Mutant(
        "any-reflection-wins",
        "5.4",
        "Of all answers the smallest wins.",
        (
            Edit(
                _REFLECTION,
                "return min(valid, key=lambda candidate: candidate[1], default=None)",
                "return next(iter(valid), None)",
            ),
        ),
        ("tests/unit/test_reflection.py::test_the_smallest_answer_wins_if_it_is_smaller_than_what_it_replaces",),
    ),
    Mutant(
        "empty-reflection",
        "5.4",
        "Nothing is ever replaced by no text.",
        (
            Edit(_REFLECT, "if answer.kind is AnswerKind.OBSERVATIONS:", "if answer.kind is not AnswerKind.UNUSABLE:"),
            Edit(_REFLECTION, "if candidate[0].strip() and candidate[1] <", "if candidate[1] <"),
        ),
        (f"{_ANSWERS}::test_an_empty_reflection_erases_nothing_and_is_visible_and_tried_again_later[sqlite-]",),
    ),
    Mutant(
        "too-long-asked-every-turn",
        "5.5",
        "After answers that were all too long, the log must grow before the next.",
        (Edit(_REFLECT, '        unit.tx.segments.update_lineage(view.lineage.id, {"reflect_above": above})\n', ""),),
        (
            "tests/protocol/test_sentences_of_deletes.py::test_after_answers_that_were_all_too_long_the_log_must_grow_before_the_next[sqlite]",
        ),
    ),
    Mutant(
        "reflected-every-turn",
        "5.5",
        "After an applied reflection the log must grow before the next.",
        (Edit(_APPLY, "round_half_up(whole + view.policy.reflection.growth)", "round_half_up(whole)"),),
        (
            "tests/protocol/test_sentences_of_deletes.py::test_after_a_reflection_the_log_must_grow_before_the_next[sqlite]",
        ),
    ),
    Mutant(
        "last-rung-missing",
        "5.6",
        "What is served stays below its limit whatever the reflect lane does.",
        (Edit(_ACTIVATE, "    if active_tokens <= limit:\n", "    if active_tokens >= 0:\n"),),
        (f"{_ANSWERS}::test_a_reflector_that_cannot_shorten_is_not_asked_on_every_turn[sqlite]",),
    ),
)
