"""Reading of a torch function of a user's file: its inputs, its outputs, its computation."""

from fictl.scaffold.new.reference.read import ReadReference as ReadReference
from fictl.scaffold.new.reference.read import read_reference as read_reference
from fictl.scaffold.new.reference.read import untranslated as untranslated
from fictl.scaffold.new.reference.reference import Reference as Reference
