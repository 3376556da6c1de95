"""Builds ahead of time, for machines that have no compiler."""

COMMANDS = ("build", "verify")
