"""Solution: source code that computes what a definition describes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import Field, model_validator

from fictl.trace.documents.build_spec import BuildSpec
from fictl.trace.documents.part import Part, Title
from fictl.trace.documents.reading import read_document
from fictl.trace.documents.source_file import SourceFile

_MOST_FILES = 500
_LARGEST = 16 << 20
# JSON may make six bytes of one.
_LARGEST_FILE = 6 * _LARGEST


class Solution(Part):
    """An implementation by one author. `hash()` covers what decides its result and its call."""

    name: Title
    definition: Title
    author: Title
    description: str | None = None
    spec: BuildSpec
    sources: Annotated[tuple[SourceFile, ...], Field(min_length=1, max_length=_MOST_FILES)]

    @model_validator(mode="after")
    def _is_one_tree(self) -> Solution:
        paths = [source.path for source in self.sources]
        _refuse_clashes(paths)
        if str(self.get_entry_path()) not in paths:
            raise ValueError(f"the entry file {self.get_entry_path()} is not among {paths}")
        if sum(len(source.content.encode()) for source in self.sources) > _LARGEST:
            raise ValueError(f"sources of more than {_LARGEST >> 20} MiB")
        return self

    def hash(self) -> str:
        """Hexadecimal SHA-256, without name, author, description and target hardware."""
        return self._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    def with_unique_name(self) -> Solution:
        """Copy with a name that contains the hash, unique in a dataset."""
        return self.model_copy(update={"name": f"{self.name}_{self._digest[:8]}"})

    def get_entry_path(self) -> PurePosixPath:
        return PurePosixPath(self.spec.entry_point.partition("::")[0])

    def get_entry_symbol(self) -> str:
        return self.spec.entry_point.partition("::")[2]

    def get_entry_source(self) -> SourceFile:
        return next(s for s in self.sources if s.path == str(self.get_entry_path()))

    def to_json(self) -> str:
        document = self.model_dump(mode="json")
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, path: Path) -> Solution:
        return read_document(cls, path, _LARGEST_FILE)

    @cached_property
    def _digest(self) -> str:
        digest = hashlib.sha256()
        for part in self._deciding():
            data = part.encode()
            # Length-prefixed, so that different lists of parts give different bytes.
            digest.update(b"%d:" % len(data) + data)
        return digest.hexdigest()

    def _deciding(self) -> Iterator[str]:
        spec = self.spec
        yield from (self.definition, spec.language.value, spec.entry_point)
        yield spec.binding.value if spec.binding else ""
        yield str(spec.destination_passing_style)
        options = spec.compile_options
        flags = (options.cflags, options.cuda_cflags, options.ld_flags) if options else ()
        for group in (spec.dependencies, *flags):
            yield from (str(len(group)), *group)
        for source in sorted(self.sources, key=lambda source: source.path):
            yield from (source.path, source.content)


def _refuse_clashes(paths: list[str]) -> None:
    """Refuse equal paths, also on file systems that fold case, and files used as folders."""
    folded = [path.casefold() for path in paths]
    for path, key in zip(paths, folded, strict=True):
        if folded.count(key) > 1:
            raise ValueError(f"two sources at {path}")
        if any(other.startswith(f"{key}/") for other in folded):
            raise ValueError(f"{path} is both a file and a folder of other files")
