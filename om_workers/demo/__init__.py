"""A conversation played against the service as an agent would: shipped words, live view, checks."""
