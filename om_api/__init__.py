"""The HTTP API: takes turns in, gives contexts back, and calls no model."""
