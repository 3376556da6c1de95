"""Wrapping a kernel of a user's file into an op, with the file as its header."""

from fictl.scaffold.new.brought.bring import checked_kernel as checked_kernel
from fictl.scaffold.new.brought.draft import KIND as KIND
from fictl.scaffold.new.brought.draft import brought_draft as brought_draft
