"""Observational memory as a distributed worker pipeline."""

__version__ = "0.1.0"
