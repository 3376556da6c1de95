"""Reads includes, launches and exports from a C++ or CUDA file's text."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path

from fictl.paths import real
from fictl.user_file import read_text

_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*(?P<what>[^\n]*?)[ \t]*$", re.MULTILINE)
_EXPORT = re.compile(r"\bTVM_FFI_DLL_EXPORT_TYPED_FUNC\(\s*(\w+)(?:\s*,\s*([\w:]+))?")
_DEFINITION = (
    r"(?P<result>[\w:]+(?:<[^;{{}}()]*>)?)[\s&]+{name}\s*\((?P<parameters>[^(){{}};]*)\)\s*\{{"
)
# A named namespace that contains only declarations.
_DECLARING = re.compile(r"\bnamespace\s+\w[\w:]*\s*\{(?P<body>[^{}]*)\}")
_PROTOTYPE = re.compile(
    r"(?P<result>[\w:]+(?:<[^;{}()]*>)?)[\s&]+(?P<name>\w+)\s*\((?P<parameters>[^(){};]*)\)\s*;"
)
_PARAMETER = re.compile(r"(?P<type>.*[\s&>])(?P<name>\w+)(?:\s*=.*)?", re.DOTALL)
_QUALIFIERS = re.compile(r"\bconst\b|\b(?:\w+::)+|&|\s")
_LAUNCH = re.compile(r"<<<.*?>>>", re.DOTALL)


@dataclass(frozen=True)
class Include:
    """One #include directive; `name` is empty if the operand is a macro."""

    line: int
    operand: str

    @property
    def name(self) -> str:
        quoted = self.operand[:1] + self.operand[-1:] in ('""', "<>")
        return self.operand[1:-1] if quoted else ""


@dataclass(frozen=True)
class CppSignature:
    """Signature of a C++ function; types lack const, & and namespaces: `Optional<View>`."""

    line: int
    result: str
    parameters: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class CppSource:
    """A C++ or CUDA file; properties read its text without comments."""

    path: Path

    @cached_property
    def code(self) -> str:
        text = read_text(self.path, errors="replace")
        return _COMMENT.sub(_blank, text)

    @cached_property
    def includes(self) -> tuple[Include, ...]:
        matches = _INCLUDE.finditer(self.code)
        return tuple(Include(self._line(match), match["what"]) for match in matches)

    @property
    def exports(self) -> dict[str, int]:
        """Map each name that the binding exports to Python to its line."""
        return {match[1]: self._line(match) for match in _EXPORT.finditer(self.code)}

    def signature(self, export: str) -> CppSignature | None:
        """Return the exported function's signature; None unless defined exactly once here."""
        exports = (match for match in _EXPORT.finditer(self.code) if match[1] == export)
        symbols = [match[2].rpartition("::")[2] for match in exports if match[2]]
        if not symbols:
            return None
        signatures = self.defined(symbols[0])
        return (
            signatures[0]
            if len(signatures) == 1 and all(n for _, n in signatures[0].parameters)
            else None
        )

    @property
    def declared(self) -> Iterator[tuple[str, CppSignature]]:
        """Yield names and signatures declared in named namespaces, as in a binding."""
        for namespace in _DECLARING.finditer(self.code):
            for match in _PROTOTYPE.finditer(self.code, *namespace.span("body")):
                yield match["name"], self._signature(match)

    def defined(self, name: str) -> list[CppSignature]:
        """Return the signature of every definition of a function."""
        pattern = _DEFINITION.format(name=re.escape(name))
        return [self._signature(match) for match in re.finditer(pattern, self.code)]

    def _signature(self, match: re.Match[str]) -> CppSignature:
        parameters = tuple(map(_typed, _split(match["parameters"])))
        return CppSignature(self._line(match), _bare(match["result"]), parameters)

    @property
    def launches(self) -> tuple[int, ...]:
        """Line numbers of `<<<…>>>`."""
        return tuple(self._line(match) for match in _LAUNCH.finditer(self.code))

    def _line(self, match: re.Match[str]) -> int:
        return self.code.count("\n", 0, match.start()) + 1


def read_cpp(path: Path) -> CppSource:
    """Read a file; cached, because many files include the same ones."""
    stat = path.stat()
    return _read(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=256)
def _read(path: Path, _mtime_ns: int, _size: int) -> CppSource:
    return CppSource(path)


def _blank(match: re.Match[str]) -> str:
    text = match[0]
    return text if text.startswith('"') else " " + "\n" * text.count("\n")


def _split(text: str) -> list[str]:
    """Split at the commas outside of template arguments."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "<") - (letter == ">")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _typed(parameter: str) -> tuple[str, str]:
    """Return a parameter's type and name; the name may be empty."""
    match = _PARAMETER.fullmatch(parameter)
    return (_bare(match["type"]), match["name"]) if match else (_bare(parameter), "")


def _bare(cpp_type: str) -> str:
    return _QUALIFIERS.sub("", cpp_type)


def reach(paths: Iterable[Path], include_dirs: tuple[Path, ...]) -> Iterator[CppSource]:
    """Yield the files and, recursively, the project files they include; ignores `#if`."""
    pending, seen = list(paths), set()
    while pending:
        source = read_cpp(real(pending.pop(0)))
        if source.path in seen:
            continue
        seen.add(source.path)
        yield source
        places = (source.path.parent, *include_dirs)
        for name in (include.name for include in source.includes if include.name):
            # Not pathlib: making its objects takes longer than the file lookups.
            candidates = (f"{place}{os.sep}{name}" for place in places)
            pending.extend(Path(path) for path in islice(filter(os.path.isfile, candidates), 1))
