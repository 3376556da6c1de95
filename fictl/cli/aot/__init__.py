"""Ahead-of-time builds, for machines without a compiler."""

COMMANDS = {
    "build": "Build into a folder",
    "verify": "Check every module of such a folder",
    "wheel": "Build wheels that fictl finds where pip puts them",
    "sbom": "Print the bill of materials of a folder",
}
