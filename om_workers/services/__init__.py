"""Use cases: each one a small callable over the ports."""
