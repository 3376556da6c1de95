"""Reasons that keep an op in its family: files and names that it shares with the ops there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from fictl.errors import UsageError
from fictl.project import OpFolder
from fictl.scaffold.existing.rename.renaming import Renaming
from fictl.user_file import read_text


def includes(text: str, folder: OpFolder) -> bool:
    """Tell if a C++ file includes a header of the op."""
    start = f"{folder.project.name}/{folder.family}"
    return any(f"{start}/{header.name}" in text for header in folder.headers)


def refuse_shared(renaming: Renaming, files: Iterable[Path], others: Mapping[Path, str]) -> None:
    """Names of one namespace see each other, and `_*.py` is of one family."""
    mentions = [*_needed(renaming.before, files), *_needing(renaming.before, others)]
    if mentions:
        raise UsageError(
            f"{renaming.old} cannot leave the family {renaming.before.family}: {'; '.join(mentions)}",
            "let go of that first: what families share belongs to include/<project>/device",
        )


def _needed(folder: OpFolder, files: Iterable[Path]) -> Iterator[str]:
    own = "|".join(re.escape(header.name) for header in folder.headers) or "-"
    family = re.escape(f"{folder.project.name}/{folder.family}")
    header = re.compile(rf"#\s*include\s*<{family}/(?!(?:{own})>)[^>]*>")
    python = re.compile(r"from \.\.(?:_\w+| import _\w+)")
    for path in files:
        pattern = python if path.suffix == ".py" else header
        match = pattern.search(read_text(path, errors="replace"))
        if match:
            yield f"{path.name} has `{match[0]}`"


def _needing(folder: OpFolder, others: Mapping[Path, str]) -> Iterator[str]:
    families = {
        folder.project.kernels / folder.family,
        folder.project.include / folder.project.name / folder.family,
    }
    for path, text in others.items():
        if families & {*path.parents} and path.suffix != ".py" and includes(text, folder):
            yield f"{path.name} of the same family includes its header"
