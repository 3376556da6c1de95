"""Artifacts: named, signed snapshots of builds, in a folder that is a store or on any server."""
