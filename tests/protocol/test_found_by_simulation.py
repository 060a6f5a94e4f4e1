"""What the simulation has found, each as the few steps that it came down to."""

from __future__ import annotations

from om_workers.engine.jobs import Lane
from om_workers.services.claim import claim_job
from om_workers.services.reflect import reflect
from om_workers.services.sweep import sweep
from tests.support.world import World

LEASE = 10


def test_a_worker_that_slept_through_its_lease_asks_no_model_about_what_others_have_condensed(world: World) -> None:
    """It had claimed a reflection and not read its segments yet; when it woke, none of them was active any more."""
    world.thread("t", observation={"messageTokens": 100, "bufferTokens": False}, reflection={"observationTokens": 20})
    number = 0
    while not any(job.lane is Lane.REFLECT for job in world.queue.waiting):
        number += 1
        world.say("t", number, 60)
        while world.queue.waiting and world.queue.waiting[0].lane is Lane.OBSERVE:
            world.run_one()
    job = world.queue.take()
    assert job is not None
    slept = claim_job(world.ports, job.memory_id, job.id, "slow")
    assert slept is not None
    world.clock.advance(LEASE + 1)
    assert sweep(world.ports).taken_back == 1
    world.clock.advance(LEASE)
    world.drain()
    assert [segment.state for segment in world.segments("t", reflected=True)].count("reflected") == len(slept.basis)
    asked = len(world.models.requests)
    assert reflect(world.ports, slept) is False
    assert len(world.models.requests) == asked
    assert world.violations() == []
