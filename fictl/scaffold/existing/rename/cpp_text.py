"""Another name in C++ and CUDA files: by text, told apart from what other headers call so."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fictl.paths import real
from fictl.project.cpp_source import CppSource, reach
from fictl.scaffold.existing.rename.renaming import Renaming
from fictl.scaffold.existing.rename.text import WORD, Place, is_attribute, places, substitute

SUFFIXES = (".cu", ".cuh", ".cpp", ".cc", ".h", ".hpp", ".inc", ".jinja")

_PROSE = re.compile(r'("(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/)', re.DOTALL)
_QUALIFIER = re.compile(r"((?:\w*::)+)\s*\Z")
_MEMBER = re.compile(r"(?:\.|->)\s*\Z")


@dataclass(frozen=True)
class CppNames:
    """`files` are the op's own; what the headers around them name keeps its name."""

    renaming: Renaming
    files: tuple[Path, ...]

    @cached_property
    def own(self) -> frozenset[str]:
        return frozenset(w for path in self.files for w in WORD.findall(CppSource(path).code))

    @cached_property
    def foreign(self) -> frozenset[str]:
        around = reach(self.files, self.renaming.before.project.include_dirs)
        ours = {real(path) for path in self.files}
        sources = (source for source in around if source.path not in ours)
        return frozenset(word for source in sources for word in WORD.findall(source.code))

    @cached_property
    def changing(self) -> dict[str, str]:
        """Identifiers that carry the op's name, and what they become."""
        kept = self.renaming.kept
        words = {word: self.renaming.respell(word) for word in self.own - kept}
        return {
            word: new
            for word, new in words.items()
            if new != word and (word not in self.foreign or self.renaming.is_whole(word))
        }

    def clashes(self) -> set[str]:
        """New identifiers that are taken."""
        taken = {new for new in self.changing.values() if new in self.own}
        types = (new for new in self.changing.values() if new[0].isupper())
        return taken.union(new for new in types if new in self.foreign)

    def rename(self, text: str) -> str:
        """A file of the op."""
        rules = (*places(self.renaming), *self._namespaces())
        is_variable = self._is_variable(text)

        def code(match: re.Match[str]) -> str:
            return self._changed(match, self._is_ours(match, is_variable))

        def prose(match: re.Match[str]) -> str:
            return self._changed(match, not is_attribute(match))

        pieces = enumerate(_PROSE.split(text))
        return "".join(substitute(piece, rules, prose if i % 2 else code) for i, piece in pieces)

    def rename_outside(self, text: str) -> str:
        """A file that includes a header of the op: its prose is its own."""
        rules = (*places(self.renaming), *self._qualified())

        def code(match: re.Match[str]) -> str:
            return self._changed(match, self._is_ours(match, is_variable=True))

        def prose(match: re.Match[str]) -> str:
            return match[0]

        pieces = enumerate(_PROSE.split(text))
        return "".join(substitute(piece, rules, prose if i % 2 else code) for i, piece in pieces)

    def _changed(self, match: re.Match[str], is_ours: bool) -> str:
        return self.changing.get(match[0], match[0]) if is_ours else match[0]

    def _is_ours(self, match: re.Match[str], is_variable: bool) -> bool:
        word, renaming = match[0], self.renaming
        before = match.string[: match.start()]
        qualifier = _QUALIFIER.search(before[-100:])
        if qualifier:
            return self._is_our_scope(qualifier[1])
        if not renaming.is_whole(word):
            return True
        if _MEMBER.search(before[-20:]):
            return False
        # Why: a local variable of the op's name stays, at its declaration and where it is used.
        is_call = match.string[match.end() :].lstrip().startswith("(")
        return is_call or word[0].isupper() or not is_variable or "EXPORT" in before[-60:]

    def _is_our_scope(self, qualifier: str) -> bool:
        """`norm::` or `my_kernels::norm::`, what Triton compiled, and classes of its own."""
        before = self.renaming.before
        ours = {"", before.family, before.project.name, "kernel"}
        return all(
            name in ours or (name[0].isupper() and name not in self.foreign)
            for name in qualifier.split("::")
        )

    def _is_variable(self, text: str) -> bool:
        """Tell if it declares a variable, a parameter or a member of the op's name."""
        pattern = rf"(?<!\breturn)(?<=[\w>&*])[ ]+[&*]?{self.renaming.old}\s*[=;,)\[{{]"
        return bool(re.search(pattern, _PROSE.sub(" ", text)))

    def _namespaces(self) -> tuple[Place, ...]:
        project, old, new = self._families()
        if old == new:
            return ()
        return (
            (rf"\b{project}::{old}\b", lambda _: f"{project}::{new}"),
            (rf"(?<![\w:]){old}::", lambda _: f"{new}::"),
        )

    def _qualified(self) -> tuple[Place, ...]:
        _, old, new = self._families()

        def name(match: re.Match[str]) -> str:
            return f"{new}::{self.changing[match['name']]}"

        known = "|".join(map(re.escape, sorted(self.changing, reverse=True)))
        return ((rf"\b{old}::(?P<name>{known})\b", name),) if known else ()

    def _families(self) -> tuple[str, str, str]:
        before, after = self.renaming.before, self.renaming.after
        return before.project.name, before.family, after.family
