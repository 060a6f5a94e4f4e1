"""What a delete takes out, what it leaves, and what is made again."""

from __future__ import annotations

from tests.mutants.mutant import Edit, Mutant

_DELETE = "om_workers/services/delete.py"
_THREAD = "om_workers/services/delete_thread.py"
_REBUILD = "om_workers/services/rebuild.py"
_SETTLE = "om_workers/services/settle.py"
_PLAN = "om_workers/engine/plan.py"
_MANUAL = "om_workers/services/manual.py"
_MESSAGES = "om_workers/adapters/sql/messages.py"
_PURGING = "om_workers/adapters/sql/purging.py"
_SQL_THREADS = "om_workers/adapters/sql/threads.py"
_DELETES = "tests/protocol/test_deletes.py"
_SENTENCES = "tests/protocol/test_sentences_of_deletes.py"
_GONE = f"{_DELETES}::test_a_deleted_message_is_gone_from_the_messages_and_from_what_was_observed[sqlite]"
_AGAIN = f"{_DELETES}::test_its_neighbours_are_observed_again_in_their_place[sqlite]"
_TAKEN_BACK = f"{_DELETES}::test_a_reflection_is_taken_back_and_what_else_it_stood_for_is_served_again[sqlite]"

DELETES = (
    Mutant(
        "epoch-not-raised",
        "10.1",
        "A delete raises the epoch of every lineage.",
        (Edit(_DELETE, '{"epoch": lineage.epoch + 1, "reflect_above": 0}', '{"reflect_above": 0}'),),
        (f"{_SENTENCES}::test_what_was_claimed_before_a_delete_is_not_even_asked_for[sqlite]",),
    ),
    Mutant(
        "delete-cancels-nothing",
        "10.1",
        "A delete cancels unfinished jobs.",
        (Edit(_DELETE, '    cancel_unfinished(unit, view_in(unit.ports, tx), why="a message was deleted")\n', ""),),
        (f"{_DELETES}::test_a_result_that_knew_the_text_is_refused[sqlite]",),
    ),
    Mutant(
        "no-fence-at-all-for-deletes",
        "10.1",
        "No result that knew the text comes in.",
        (
            Edit(_DELETE, '    cancel_unfinished(unit, view_in(unit.ports, tx), why="a message was deleted")\n', ""),
            Edit(
                "om_workers/services/observe.py",
                "if snapshot.segments.lineage(claim.job.lineage_id).epoch != claim.epoch:",
                "if claim.epoch < 0:",
            ),
            Edit("om_workers/services/commit.py", "        and view.lineage.epoch == claim.epoch\n", ""),
        ),
        (f"{_DELETES}::test_a_result_that_knew_the_text_is_refused[sqlite]",),
    ),
    Mutant(
        "text-left-in-its-row",
        "10.1",
        "Of a deleted message its id, its seq and the time of the delete stay, and nothing else.",
        (Edit(_MESSAGES, '"role": "", "parts": [], "part_tokens"', '"role": "", "part_tokens"'),),
        (f"{_SENTENCES}::test_of_a_deleted_message_its_id_its_seq_and_the_time_are_left_and_nothing_else[sqlite]",),
    ),
    Mutant(
        "deleted-id-used-again",
        "10.1",
        "The id of a deleted message cannot be used again.",
        (Edit("om_workers/services/ingest.py", "        if found.deleted:\n", "        if found.seq < 0:\n"),),
        (f"{_DELETES}::test_the_id_of_a_deleted_message_cannot_be_used_again[sqlite]",),
    ),
    Mutant(
        "offsets-not-moved",
        "10.1",
        "Counters are the sums of what is left.",
        (Edit(_MESSAGES, "offset_tokens=MESSAGE.c.offset_tokens - tokens)", "offset_tokens=MESSAGE.c.offset_tokens)"),),
        (_GONE,),
    ),
    Mutant(
        "pending-not-counted-down",
        "10.1",
        "A message that was not covered yet is no longer pending.",
        (
            Edit(
                _DELETE,
                '"pending_tokens": position.pending_tokens - message.tokens,',
                '"pending_tokens": position.pending_tokens,',
            ),
        ),
        (f"{_DELETES}::test_a_message_that_is_not_covered_yet_only_leaves[sqlite]",),
    ),
    Mutant(
        "observation-kept",
        "10.2",
        "The observation of the text's range gives way to a stand-in.",
        (
            Edit(
                _DELETE,
                "    for segment in holders:\n        if segment.kind != ",
                "    for segment in holders[:0]:\n        if segment.kind != ",
            ),
        ),
        (_GONE,),
    ),
    Mutant(
        "reflection-kept",
        "10.2",
        "Every reflection that stands on the text is removed.",
        (Edit(_DELETE, "    _uncover(unit, reflections, kept={segment.id for segment in holders})\n", ""),),
        (_TAKEN_BACK,),
    ),
    Mutant(
        "sources-stay-reflected",
        "10.2",
        "What a removed reflection stood for is served again.",
        (Edit(_DELETE, '    segments.set_state(sorted(stood_for - kept), "active", live=True, at=unit.tx.now)\n', ""),),
        (_TAKEN_BACK,),
    ),
    Mutant(
        "stand-in-of-the-deleted-text",
        "10.2",
        "A delete's stand-in is made from the messages that are left.",
        (Edit(_DELETE, "text = stand_in(left) if left", "text = stand_in([message, *left]) if left"),),
        (_GONE,),
    ),
    Mutant(
        "stand-in-at-the-end",
        "10.2",
        "A delete's stand-in has the place of what it replaces.",
        (
            Edit(
                _DELETE,
                '        kind="stand_in",\n',
                '        kind="stand_in",\n        ordinal=segment.ordinal + 100,\n',
            ),
        ),
        (_AGAIN,),
    ),
    Mutant(
        "not-observed-again",
        "10.3",
        "What is left of the range is observed again.",
        (Edit(_DELETE, "rebuild=bool(left),", "rebuild=False,"),),
        (_AGAIN,),
    ),
    Mutant(
        "empty-range-observed-again",
        "10.3",
        "A range of which no message is left is not observed again.",
        (Edit(_DELETE, "rebuild=bool(left),", "rebuild=True,"),),
        (f"{_DELETES}::test_a_range_whose_every_message_is_deleted_is_not_observed_again[sqlite]",),
    ),
    Mutant(
        "rebuilt-at-the-end",
        "10.3",
        "The new observation takes the stand-in's place.",
        (
            Edit(
                _REBUILD,
                "place=(stand_in.ordinal, stand_in.generation),",
                "place=(view.lineage.next_ordinal, stand_in.generation),",
            ),
        ),
        (_AGAIN,),
    ),
    Mutant(
        "rebuilt-in-another-state",
        "10.3",
        "The new observation has the stand-in's state.",
        (Edit(_REBUILD, "        state=stand_in.state,\n", ""),),
        (_TAKEN_BACK,),
    ),
    Mutant(
        "rebuilt-first",
        "10.3",
        "New messages go before what is observed again.",
        (
            Edit(
                _PLAN,
                "    if observe_due(state, policy):\n        yield",
                "    if observe_due(state, policy) and not state.rebuilds:\n        yield",
            ),
        ),
        (f"{_SENTENCES}::test_new_messages_are_observed_before_what_a_delete_took_out[sqlite]",),
    ),
    Mutant(
        "rebuild-never-given-up",
        "10.3",
        "If nothing can be made of a range, its stand-in stays.",
        (Edit(_REBUILD, "    unit.tx.segments.keep_stand_in(_stand_in_of(unit, job).id)\n", ""),),
        (f"{_SENTENCES}::test_a_range_of_which_nothing_can_be_made_is_observed_again_once[sqlite]",),
    ),
    Mutant(
        "reflection-planned-meanwhile",
        "10.3",
        "No reflection is planned before everything is observed again.",
        (Edit(_PLAN, "        and not state.rebuilds\n", ""),),
        (f"{_SENTENCES}::test_no_reflection_is_planned_while_a_range_is_to_be_observed_again[sqlite]",),
    ),
    Mutant(
        "reflection-started-meanwhile",
        "10.3",
        "No reflection is started by hand before everything is observed again.",
        (Edit(_MANUAL, "not view.state.candidate and not view.state.rebuilds", "not view.state.candidate"),),
        (f"{_DELETES}::test_no_reflection_reads_a_range_that_is_still_to_be_observed_again[sqlite]",),
    ),
    Mutant(
        "deleted-thread-found",
        "10.4",
        "A deleted thread can be neither read nor written.",
        (
            Edit(
                _SQL_THREADS,
                "    if found.deleted_at is not None:\n        raise Gone",
                "    if found.id is None:\n        raise Gone",
            ),
        ),
        (f"{_DELETES}::test_a_deleted_thread_is_gone_and_stays_gone[sqlite]",),
    ),
    Mutant(
        "deleted-memory-written",
        "10.4",
        "Nobody writes to a deleted thread, not even who found it just before.",
        (
            Edit(
                "om_workers/adapters/sql/transactions.py", 'if row["deleted_at"] is not None:', 'if row["id"] is None:'
            ),
        ),
        (f"{_SENTENCES}::test_a_deleted_memory_is_refused_under_its_lock_too[sqlite]",),
    ),
    Mutant(
        "job-of-a-deleted-thread",
        "10.4",
        "Jobs of a deleted thread end cancelled.",
        (Edit(_THREAD, '        cancel_unfinished(unit, view_in(ports, tx), why="the thread was deleted")\n', ""),),
        (f"{_DELETES}::test_a_job_of_a_deleted_thread_commits_nothing[sqlite]",),
    ),
    Mutant(
        "purged-at-a-stroke",
        "10.4",
        "Rows are purged in bounded batches.",
        (Edit(_PURGING, ".order_by(number).limit(limit)", ".order_by(number)"),),
        (f"{_SENTENCES}::test_a_batch_takes_no_more_rows_than_it_may[sqlite]",),
    ),
    Mutant(
        "purged-alive",
        "10.4",
        "Nothing of a memory that lives is purged.",
        (
            Edit(
                _PURGING,
                "MEMORY.c.id == memory_id, text(PURGE_SQL)).with_for_update()",
                "MEMORY.c.id == memory_id).with_for_update()",
            ),
        ),
        (f"{_SENTENCES}::test_a_memory_that_lives_is_not_purged[sqlite]",),
    ),
    Mutant(
        "work-purged",
        "10.4",
        "Ledger, jobs and attempts stay.",
        (
            Edit(
                _PURGING,
                "        (CONFIG, CONFIG.c",
                "        (MODEL_CALL, MODEL_CALL.c.memory_id == memory_id, None),\n        (CONFIG, CONFIG.c",
            ),
            Edit(_PURGING, "MESSAGE, POSITION, SEGMENT, THREAD", "MESSAGE, MODEL_CALL, POSITION, SEGMENT, THREAD"),
        ),
        (f"{_SENTENCES}::test_jobs_attempts_and_calls_of_a_deleted_thread_stay[sqlite]",),
    ),
    Mutant(
        "made-anew-too-early",
        "10.4",
        "A thread is made anew once the deleted one is purged.",
        (Edit(_SQL_THREADS, "    if found.purged_at is None:\n", "    if found.id is None:\n"),),
        (f"{_SENTENCES}::test_a_thread_is_made_anew_only_once_it_is_purged[sqlite]",),
    ),
)
