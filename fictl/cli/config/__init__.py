"""Settings in force."""

COMMANDS = ("show",)
