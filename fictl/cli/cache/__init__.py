"""Compile cache: show, explain, verify and clean it."""

COMMANDS = ("show", "explain", "verify", "gc", "clear", "path")
