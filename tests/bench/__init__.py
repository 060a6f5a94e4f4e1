"""Measures, proves nothing."""
