"""Finds op.py files of a project, `<family>/<module>/op.py`, without imports."""

from __future__ import annotations

import os
import re
from pathlib import Path

from fictl.errors import UsageError
from fictl.paths import matching
from fictl.project.declaration import read_declarations
from fictl.project.project import Project
from fictl.user_file import read_text


def op_files(project: Project) -> list[Path]:
    """Return the op.py of every op folder, sorted by family and module."""
    if not os.path.isdir(project.kernels):
        raise UsageError(
            f"project {project.name} has no folder {project.kernels}",
            f"make it, or set kernels in {project.root}",
        )
    paths = matching(project.kernels, "[!._]*/[!._]*/op.py")
    return sorted(paths, key=lambda path: path.parts[-3:-1])


def op_file_of(name: str, project: Project) -> Path | None:
    """Return the op.py that declares the public function `name`, or None; two are an error."""
    # Search the text before parsing: 80 small files take 2 ms to read and 20 to parse, and an op
    # with a syntax error must not break the others.
    defined = re.compile(rf"^(?:def|class) {re.escape(name)}\b", re.MULTILINE)
    candidates = [f for f in op_files(project) if defined.search(read_text(f, errors="replace"))]
    declaring = [
        path
        for path in candidates
        if any(declaration.name == name for declaration in read_declarations(path))
    ]
    if len(declaring) > 1:
        places = " and ".join(map(str, declaring))
        raise UsageError(f"{name} is defined twice: {places}", "rename one of them")
    return declaring[0] if declaring else None
