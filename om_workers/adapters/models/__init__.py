"""Models behind their providers; each SDK is imported when it is first needed."""
