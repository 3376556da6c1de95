"""The files of an op, and what each of its Python files defines (DESIGN 3)."""

from __future__ import annotations

import keyword
from collections.abc import Iterator

from fictl.project.check.problem import Problem
from fictl.project.folder import OpFolder
from fictl.project.project import Project
from fictl.project.python_source import definitions, parse

# Sub-modules that every mounted project has, or folders that mean something else.
_RESERVED = ("ops", "include", "binding", "cmake")


def files_are_there(folder: OpFolder) -> Iterator[Problem]:
    required = [
        (bool(folder.headers), folder.header, "the kernel and its host launch template"),
        (bool(folder.launchers), folder.path / "launcher.cu", "DLPack views -> dtype dispatch"),
        (folder.binding.is_file(), folder.binding, "the TVM-FFI exports and argument checks"),
        (folder.jit.is_file(), folder.jit, "module() and aot()"),
        (folder.trace.is_file(), folder.trace, "a TraceTemplate per public function"),
        (folder.bench.is_file(), folder.bench, "cases()"),
    ]
    # Why: a wheel carries our kernels without their tests.
    if not (folder.project.is_shipped and not folder.project.tests.is_dir()):
        required.append((folder.test.is_file(), folder.test, "what the trace cannot say"))
    for present, path, purpose in required:
        if not present:
            yield Problem("files", path, 1, f"{folder} lacks {path.name}", f"add it: {purpose}")


def names_are_importable(folder: OpFolder) -> Iterator[Problem]:
    for name in (folder.family, folder.module):
        if not name.isidentifier() or keyword.iskeyword(name):
            yield Problem(
                "names", folder.op, 1, f"folder {name!r} cannot be imported",
                "letters, digits and '_', not a Python keyword",
            )  # fmt: skip
    if folder.family in _RESERVED:
        yield Problem(
            "names", folder.op, 1, f"{folder.family!r} cannot be a family: it means something else",
            f"another name than {', '.join(_RESERVED)}",
        )  # fmt: skip


def python_files_define_their_part(folder: OpFolder) -> Iterator[Problem]:
    if not folder.declarations():
        yield Problem(
            "defines", folder.op, 1, "op.py declares no op", "decorate a function with @op(...)"
        )
    parts = ((folder.jit, ("module", "aot")), (folder.bench, ("cases",)))
    for path, wanted in parts:
        defined = definitions(parse(path)) if path.is_file() else dict.fromkeys(wanted)
        for name in wanted:
            if name not in defined:
                yield Problem(
                    "defines", path, 1, f"{path.name} defines no {name}", f"def {name}(): …"
                )


def kernels_is_no_package(project: Project) -> Iterator[Problem]:
    """An __init__.py there would shadow an installed package called `kernels`."""
    path = project.kernels / "__init__.py"
    if path.is_file():
        yield Problem("no-init", path, 1, "kernels/ is not a Python package", "delete the file")
