"""fictl inspect: the command, and what it shows."""

from fictl.cli.inspect.command import command as command
