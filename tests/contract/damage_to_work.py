"""Damage to jobs, leases, attempts and model calls."""

from __future__ import annotations

from tests.contract.damage import Corruption

WORK_DAMAGE: tuple[Corruption, ...] = (
    Corruption(
        "I5 a result covers another range than its job was claimed for",
        "UPDATE job SET last_seq = last_seq + 1 WHERE id = {stored}",
    ),
    Corruption(
        "I5 a result covers another range than its job was claimed for",
        "UPDATE job SET first_seq = NULL WHERE id = {stored}",
    ),
    Corruption(
        "I5 a running observation does not start behind the buffered position",
        "UPDATE job SET first_seq = first_seq + 1 WHERE state = 'running' AND trigger <> 'rebuild'",
    ),
    Corruption(
        "I5 a running observation does not start behind the buffered position",
        "UPDATE job SET last_seq = NULL WHERE state = 'running' AND trigger <> 'rebuild'",
    ),
    Corruption(
        "I5 an attempt that has ended could still commit",
        "UPDATE lease SET fence = fence - 1 WHERE owner IS NULL AND fence > 0",
    ),
    Corruption("I5 a frozen lineage has an unfinished job", "UPDATE lineage SET frozen = TRUE"),
    Corruption(
        "I6 a job has not the one result it should have",
        "UPDATE job SET last_outcome = 'empty' WHERE id = {stored}",
    ),
    Corruption(
        "I6 a job has not the one result it should have",
        """UPDATE segment SET job_id = (SELECT job_id FROM segment WHERE id = {candidate})
           WHERE kind = 'reflection' AND state = 'active'""",
    ),
    Corruption(
        "I6 a job has not the one result it should have",
        "UPDATE segment SET job_id = 'gone' WHERE kind = 'stand_in'",
    ),
    Corruption(
        "I6 a lane has more than one unfinished job",
        "UPDATE job SET state = 'dead', finished_at = NULL WHERE state = 'cancelled'",
        unguarded="uq_job_unfinished",
    ),
    Corruption(
        "I6 a running job has no lease, or a lease no running job",
        "UPDATE lease SET job_id = NULL WHERE owner IS NOT NULL",
    ),
    Corruption(
        "I6 a running job has no lease, or a lease no running job",
        """UPDATE lease SET owner = 'ghost', expires_at = (SELECT MAX(expires_at) FROM lease),
           deadline = (SELECT MAX(deadline) FROM lease) WHERE owner IS NULL AND memory_id <> {gone}""",
    ),
    Corruption(
        "I6 a running job has no open attempt of its lease's owner and fence",
        "UPDATE attempt SET owner = 'ghost' WHERE ended_at IS NULL",
    ),
    Corruption(
        "I6 a running job has no open attempt of its lease's owner and fence",
        "UPDATE lease SET fence = fence + 1 WHERE owner IS NOT NULL",
    ),
    Corruption(
        "I6 an attempt is open although its job has gone on",
        "UPDATE attempt SET ended_at = NULL WHERE job_id = {dead}",
    ),
    Corruption(
        "I6 a job's attempts are not numbered 1, 2, 3 up to its count",
        "UPDATE job SET attempts = attempts + 1 WHERE id = {stored}",
    ),
    Corruption(
        "I6 a job's attempts are not numbered 1, 2, 3 up to its count",
        "UPDATE attempt SET n = 0 WHERE n = 1 AND job_id = {retried}",
        also=("I11 an attempt has no call, or a call no attempt",),
    ),
    Corruption(
        "I6 a lane's counter is below one of its jobs",
        "UPDATE lease SET sequence = 0 WHERE sequence > 0",
    ),
    Corruption(
        "I6 a job has ended without a time, or has a time and has not ended",
        "UPDATE job SET finished_at = NULL WHERE id = {stored}",
    ),
    Corruption(
        "I6 a job has ended without a time, or has a time and has not ended",
        "UPDATE job SET finished_at = created_at WHERE id = {dead}",
    ),
    Corruption("I7 a lease cannot run out", "UPDATE lease SET expires_at = NULL WHERE owner IS NOT NULL"),
    Corruption("I7 a lease cannot run out", "UPDATE lease SET deadline = NULL WHERE owner IS NOT NULL"),
    Corruption(
        "I7 a lease cannot run out",
        "UPDATE lease SET deadline = (SELECT MIN(created_at) FROM memory) WHERE owner IS NOT NULL",
    ),
    Corruption("I7 a job counts as sent at no time", "UPDATE job SET sent_at = NULL WHERE sends > 0"),
    Corruption(
        "I7 a memory lacks its head lineage, its position in it or a lease",
        "UPDATE memory SET head_lineage_id = 'gone' WHERE id = {empty_memory}",
    ),
    Corruption(
        "I7 a memory lacks its head lineage, its position in it or a lease",
        "DELETE FROM position WHERE thread_id = {empty}",
    ),
    Corruption(
        "I7 a memory lacks its head lineage, its position in it or a lease",
        "DELETE FROM lease WHERE memory_id = {empty_memory} AND lane = 'reflect'",
    ),
    Corruption(
        "I9 a tool call or its result is no message of its thread",
        "UPDATE tool_call SET result_seq = 1000000 WHERE call_id = 'c1'",
    ),
    Corruption(
        "I9 a tool call or its result is no message of its thread",
        "UPDATE tool_call SET call_seq = 0 WHERE call_id = 'c1'",
    ),
    Corruption(
        "I11 a stored segment has no finished model call, and is no stand-in",
        "UPDATE model_call SET state = 'unknown' WHERE job_id = {stored}",
    ),
    Corruption(
        "I11 a call of an ended attempt is still open",
        "UPDATE model_call SET state = 'started', finished_at = NULL, outcome = NULL WHERE job_id = {dead}",
    ),
    Corruption(
        "I11 a call is closed without time or outcome, or has them and is not closed",
        "UPDATE model_call SET outcome = NULL WHERE job_id = {dead}",
    ),
    Corruption(
        "I11 a call is closed without time or outcome, or has them and is not closed",
        "UPDATE model_call SET finished_at = NULL WHERE job_id = {dead}",
    ),
    Corruption("I11 an attempt has no call, or a call no attempt", "DELETE FROM model_call WHERE job_id = {dead}"),
    Corruption(
        "I11 an attempt has no call, or a call no attempt",
        "UPDATE model_call SET attempt = 99 WHERE id = (SELECT MIN(id) FROM model_call WHERE job_id = {too_large})",
    ),
)
