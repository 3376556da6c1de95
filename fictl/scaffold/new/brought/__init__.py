"""From a kernel in a user's file to an op around it, with the file as its header."""

from fictl.scaffold.new.brought.draft import KIND as KIND
from fictl.scaffold.new.brought.draft import brought_draft as brought_draft
