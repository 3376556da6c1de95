"""fictl sanitize: the command, and what it shows."""

from fictl.cli.sanitize.command import command as command
