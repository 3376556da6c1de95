"""The compile cache: what is in it, why a build hits or misses, and how to make room."""

COMMANDS = ("show", "explain", "verify", "gc", "clear", "path")
