"""`python -m om_workers.cli`: the command where it is not installed."""

from __future__ import annotations

from om_workers.cli import main

main()
