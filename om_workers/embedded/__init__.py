"""Runs the services the embedded stack needs as supervised child processes."""
