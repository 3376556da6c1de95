"""JSON Schemas of what commands print with --json, inferred from the code that writes it."""
