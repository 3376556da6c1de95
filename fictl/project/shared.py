"""What users may name of a family, beside its ops: the `__all__` of `<family>/_*.py`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

from fictl.paths import matching
from fictl.project.project import Project
from fictl.project.python_source import assigned, parse


def shared(project: Project) -> Iterator[tuple[str, str, str]]:
    """(family, module to import, name) of each; nothing is imported."""
    for path in matching(project.kernels, "[!._]*/_*.py"):
        family = path.parent.name
        names = assigned(parse(path), "__all__")
        with suppress(ValueError):
            for name in ast.literal_eval(names) if names else ():
                yield family, f"{project.package}.{family}.{path.stem}", name
