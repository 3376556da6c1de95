"""Who watches calls: the log, dumps, validation, definitions."""
