"""What a coding agent has to know to work with fictl: skills to list, install and pack."""

COMMANDS = ("list", "install")
