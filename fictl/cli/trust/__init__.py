"""Keys: whose builds are believed, and one to sign your own."""

COMMANDS = {
    "new-key": "Make a key to sign builds with",
    "add": "Trust somebody's key",
    "list": "List the trusted keys",
    "remove": "Trust a key no longer",
}
