"""Specs of an op folder: those of its jit.py, or the default one."""

from __future__ import annotations

import os

from fictl.errors import UsageError
from fictl.jit import JitSpec
from fictl.op.module import module_spec
from fictl.project import OpFolder
from fictl.project.python_source import yielded


def folder_specs(folder: OpFolder) -> list[JitSpec]:
    """List the specs that `aot()` of the folder's jit.py yields; none for an op composed of others.

    A folder without a jit.py has one module, built from its files.
    """
    if folder.is_composed:
        return []
    if os.path.isfile(folder.jit):
        jit = folder.load("jit")
        with yielded(folder.jit, "aot", "JitSpec") as listed:
            return listed(jit.aot())
    if folder.needs_jit:
        raise UsageError(
            f"{folder} has no {folder.jit}: {folder.needs_jit}",
            "write module() and aot() there, or delete what needs them",
        )
    return [module_spec(str(folder.op))]
