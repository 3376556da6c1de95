"""fictl new-op: from an idea to a working op."""

from fictl.cli.new_op.command import command, request_of

__all__ = ["command", "request_of"]
