"""Another name in the definition files of an op: it stands in their names and in three lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from fictl.scaffold.existing.definition_files import definition_files
from fictl.scaffold.existing.rename.renaming import Renaming
from fictl.user_file import read_text


def renamed_definitions(renaming: Renaming) -> Iterator[tuple[Path, str | None]]:
    for name in renaming.public:
        new = renaming.respell(name)
        for path in definition_files(renaming.before.project, [name]):
            file = re.sub(rf"^{name}(?=_|$)", new, path.stem) + path.suffix
            yield path, None
            yield path.parents[1] / new / file, _renamed(path, name, new)


def _renamed(path: Path, old: str, new: str) -> str:
    """Rename in a definition, except in its reference, which is text of its own."""
    text = read_text(path)
    text = re.sub(rf'^(  "name": "){old}(?=[_"])', rf"\g<1>{new}", text, flags=re.MULTILINE)
    text = re.sub(rf'^(  "op_type": "){old}"', rf'\g<1>{new}"', text, flags=re.MULTILINE)
    return re.sub(rf'^(    "\w+:[\w.]+\.ops\.){old}"', rf'\g<1>{new}"', text, flags=re.MULTILINE)
