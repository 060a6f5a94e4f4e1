"""What every test gets: real services on request, a clean environment, the same property tests on every machine."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.services.redis", "tests.services.postgres"]

SERVICES = {"redis_url": "redis", "postgres_url": "postgres"}

# A slow machine is no failure, and CI has to find the same thing twice.
settings.register_profile("laptop", deadline=None)
settings.register_profile(
    "ci", deadline=None, derandomize=True, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci" if os.environ.get("CI") else "laptop")

# The settings of whoever runs the tests must not reach them.
for name in [name for name in os.environ if name.startswith("OM_") and not name.startswith("OM_TEST_")]:
    del os.environ[name]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with the services it uses, so that `-m "not postgres"` works without anyone's care."""
    for item in items:
        for fixture, marker in SERVICES.items():
            if fixture in getattr(item, "fixturenames", ()):
                item.add_marker(marker)
