"""Redis: events on pub/sub, which may forget."""
