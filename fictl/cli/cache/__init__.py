"""Compile cache: show, explain, share, verify and clean it."""

COMMANDS = ("show", "explain", "push", "pull", "verify", "gc", "clear", "path")
