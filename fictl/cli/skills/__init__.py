"""Skills, instructions for coding agents that work with fictl: list, install and pack them."""

COMMANDS = {
    "list": "List the skills",
    "install": "Write them where an agent reads them",
}
