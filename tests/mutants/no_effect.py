"""Sentences of the protocol that no test can miss, each with the reason: something else holds what they promise."""

from __future__ import annotations

from dataclasses import dataclass

from tests.mutants.mutant import Edit

_CLAIM = "om_workers/services/claim.py"
_COMMIT = "om_workers/services/commit.py"


@dataclass(frozen=True, slots=True)
class Unseen:
    """A sentence whose edit changes nothing that can be observed; ``edits`` is empty where there is nothing to edit."""

    rule: str
    sentence: str
    reason: str
    edits: tuple[Edit, ...] = ()


NO_EFFECT: tuple[Unseen, ...] = (
    Unseen(
        "7.5",
        "A commit compares its job's id and state.",
        "The fence goes up when a job starts and when it ends, so an equal fence is the same running job. Taken off "
        "together with the fence they show: `any-job-may-commit`, `any-state-may-commit`.",
        (
            Edit(_COMMIT, "        and job.id == claim.job.id\n", ""),
            Edit(_COMMIT, "        and job.state is JobState.RUNNING\n", ""),
        ),
    ),
    Unseen(
        "7.5",
        "A commit compares its epoch.",
        "What raises the epoch also cancels the jobs of the only lineage there is, which raises the fence.",
        (Edit(_COMMIT, "        and view.lineage.epoch == claim.epoch\n", ""),),
    ),
    Unseen(
        "7.5",
        "A range that is not right behind the buffered position counts as lost.",
        "Only commits of the same lane move that position, and the fence lets one of them in.",
        (
            Edit(
                "om_workers/services/observe.py",
                "if job.first_seq != view.position.buffered_seq + 1 or job.last_seq != claim.last_seq:",
                "if job.first_seq is None:",
            ),
        ),
    ),
    Unseen(
        "7.5",
        "A reflection of whose segments one is no longer active counts as lost.",
        "Only an applied candidate or a delete ends an active segment: with a candidate there is no reflect job, and a "
        "delete cancels it.",
        (Edit("om_workers/services/reflect.py", "if len(replaced) < len(claim.basis):", "if not replaced:"),),
    ),
    Unseen(
        "10.3",
        "A reflect job that is claimed while a range is to be observed again does nothing.",
        "Planning makes no such job (`reflection-planned-meanwhile`), and a delete cancels the one that was there.",
        (Edit(_CLAIM, "    if view.lineage.rebuilds:\n        return None\n", ""),),
    ),
    Unseen(
        "7.6",
        "A task carries ids only.",
        "The value that is sent (`DueJob`) has no other field.",
    ),
)
