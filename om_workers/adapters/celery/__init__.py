"""Celery: how tasks reach workers."""
