"""A reference in torch as an expression, where it is one; and where it is not, the line and why."""

from fictl.scaffold.new.reference.translate.translate import Translation as Translation
from fictl.scaffold.new.reference.translate.translate import translate as translate
