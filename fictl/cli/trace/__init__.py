"""Traces of ops, and the benchmark definitions made of them."""

COMMANDS = {
    "list": "List what ops' traces describe",
    "export": "Write definitions as JSON",
    "check": "Compare written definitions with the ops",
    "run": "Run the reference of a definition",
}
