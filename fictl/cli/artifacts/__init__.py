"""Signed snapshots of builds: for fleets, mirrors and machines without a network."""

COMMANDS = ("build", "push", "pull", "list", "verify", "mirror", "lock", "sbom")
