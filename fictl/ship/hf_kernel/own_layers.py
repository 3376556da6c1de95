"""Layers that an op brings along: layers.py of its folder, which goes into the export as it is."""

from __future__ import annotations

import ast
import os
import sys

from fictl.errors import UsageError
from fictl.project import OpFolder
from fictl.project.python_source import parse
from fictl.user_file import read_text

FILE = "layers.py"


def own_layers(folder: OpFolder) -> str:
    """Return the text; '' if there is none. It may import torch, the standard library and `.`."""
    path = folder.path / FILE
    if not os.path.isfile(path):
        return ""
    for node in ast.walk(parse(path)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""] if not node.level else []
            if node.level > 1 or (node.level and node.module):
                names = ["." * node.level + (node.module or "")]
        strange = [name for name in names if not _is_everywhere(name)]
        if strange:
            raise UsageError(
                f"{path} imports {strange[0]}, which is not there where the export is used",
                "torch, the standard library, and the op's functions (from . import …) are",
            )
    return read_text(path)


def _is_everywhere(name: str) -> bool:
    top = name.partition(".")[0]
    return top == "torch" or top in sys.stdlib_module_names
