"""The whole service with real SQL, its interleavings and faults chosen by a seed."""
