"""Skills, instructions for coding agents that work with fictl: list, install and pack them."""

COMMANDS = ("list", "install")
