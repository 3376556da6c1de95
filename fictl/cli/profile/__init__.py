"""fictl profile: the command, and what it shows of each tool's findings."""

from fictl.cli.profile.command import command as command
