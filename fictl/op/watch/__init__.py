"""Observers of calls: the log, dumps, validation, definitions."""
