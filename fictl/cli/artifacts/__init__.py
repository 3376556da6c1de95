"""Signed snapshots of builds: for fleets, mirrors and machines without a network."""

COMMANDS = {
    "build": "Build a named snapshot of ops",
    "push": "Send a snapshot to a repository",
    "pull": "Fetch a snapshot, checked and ready to load",
    "list": "List the snapshots of a folder or repository",
    "verify": "Check every byte and signature",
    "mirror": "Copy snapshots to another repository",
    "lock": "Write fictl.lock: exactly these builds",
    "sbom": "Print the bill of materials of a snapshot",
}
