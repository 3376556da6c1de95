"""Traces of ops, and the benchmark definitions made of them."""

COMMANDS = ("list", "export", "check", "run")
