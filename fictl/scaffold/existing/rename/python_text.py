"""Another name in Python files: by syntax where code is meant, by words where people are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fictl.project.python_source import definitions, parse
from fictl.scaffold.existing.rename.renaming import Renaming
from fictl.scaffold.existing.rename.syntax import Syntax
from fictl.scaffold.existing.rename.text import Place, is_attribute, places, substitute


@dataclass(frozen=True)
class PythonNames:
    """`files` are the op's own; `others` what else of it is named after it, as its C++ names."""

    renaming: Renaming
    files: tuple[Path, ...]
    others: frozenset[str]

    @cached_property
    def defined(self) -> frozenset[str]:
        """Names that may be renamed wherever they are in the op's files."""
        at_top = {name for path in self.files for name in definitions(parse(path))}
        return frozenset(at_top | {path.stem for path in self.files}) | self.others

    def clashes(self) -> set[str]:
        """New names that mean something in these files already."""
        names = {
            node.id
            for path in self.files
            for node in ast.walk(parse(path))
            if isinstance(node, ast.Name)
        }
        new = {self.renaming.respell(name) for name in self.defined - self.renaming.kept}
        return (new - self.defined) & names

    def rename(self, text: str) -> str:
        """A file of the op."""
        syntax = Syntax(text, self.renaming, own=True)

        def word(match: re.Match[str]) -> str:
            name = match[0]
            may = name not in self.renaming.kept and (
                name in self.defined or self.renaming.is_whole(name)
            )
            elsewhere = match.start() in syntax.others or is_attribute(match)
            if not may or (elsewhere and match.start() not in syntax.ours):
                return name
            return self.renaming.respell(name)

        return substitute(text, (*places(self.renaming), *self._own_imports()), word)

    def rename_outside(self, text: str) -> str:
        """A file that uses the op: its code follows, its prose is its own."""
        syntax = Syntax(text, self.renaming, own=False)

        def word(match: re.Match[str]) -> str:
            ours = match.start() in syntax.ours and self.renaming.is_whole(match[0])
            return self.renaming.respell(match[0]) if ours else match[0]

        return substitute(text, (*places(self.renaming), *self._sibling_imports()), word)

    def is_used_by(self, text: str) -> bool:
        """Tell if a Python file imports the op, calls it by the facade, or says `uses=`."""
        old = self.renaming.before
        names = "|".join(map(re.escape, (old.module, *self.renaming.public)))
        ways = (
            rf"\b{old.family}\.{old.module}\b",
            rf"\.{old.module}\.",
            rf"\bops\.({names})\b",
            rf"\bops import (\([^)]*|.*)\b({names})\b",
            rf"\buses\s*=.*\b({names})\b",
        )
        return bool(re.search("|".join(ways), text))

    def _own_imports(self) -> Iterator[Place]:
        """`from ..sibling.op` is of the family that the op leaves."""
        if self.renaming.moves_family:
            family = self.renaming.before.family
            yield r"(?<=\bfrom )\.\.(?=\w)", lambda _: f"...{family}."

    def _sibling_imports(self) -> Iterator[Place]:
        old, new = self.renaming.before, self.renaming.after
        dots = "..." + f"{new.family}." if self.renaming.moves_family else ".."
        yield rf"(?<=\bfrom )\.\.{old.module}(?=\.)", lambda _: f"{dots}{new.module}"
