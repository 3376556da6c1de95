"""Places of other machines: try them, list them, see what runs."""

COMMANDS = ("check", "init", "status", "up", "down")
