"""fictl bench: the command, and what it shows."""

from fictl.cli.bench.command import command as command
