"""The settings in force."""

COMMANDS = ("show",)
