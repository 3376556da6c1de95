"""Ahead-of-time builds, for machines without a compiler."""

COMMANDS = ("build", "verify", "wheel", "sbom")
