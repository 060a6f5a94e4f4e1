"""Implementations of the ports, each over one outside thing."""
