"""Keys: whose builds are believed, and one to sign your own."""

COMMANDS = ("new-key", "add", "list", "remove")
