"""Compile cache: show, explain, share, verify and clean it."""

COMMANDS = {
    "show": "List the builds that are stored",
    "explain": "Say why an op is built again",
    "push": "Send builds to a remote",
    "pull": "Fetch builds of ops from the remotes",
    "verify": "Read every build, and find what is corrupt",
    "gc": "Remove what is old, or over a size",
    "clear": "Remove the builds of ops, or all",
    "path": "Print the cache's folder",
}
