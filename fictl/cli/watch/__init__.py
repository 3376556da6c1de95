"""fictl watch: the command, and what it shows."""

from fictl.cli.watch.command import command as command
