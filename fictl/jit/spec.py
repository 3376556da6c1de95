"""JitSpec: a module's description with the methods that build and load it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fictl.arch import Arch, parse_gencode, unique
from fictl.errors import MissingFile, UsageError
from fictl.jit.build import ensure, ensure_runs, write_ninja
from fictl.jit.load import load_found, used
from fictl.jit.lookup import find
from fictl.jit.module_spec import ModuleSpec
from fictl.jit.progress import BuildObserver
from fictl.jit.store.entry import Entry
from fictl.paths import data_root, write_atomic
from fictl.user_file import read_bytes


@dataclass(frozen=True)
class JitSpec(ModuleSpec):
    """A module that op authors and users build and load."""

    def write_ninja(self, folder: Path | None = None) -> Path:
        """Write build.ninja and the rendered sources to `folder`; `ninja -C` there builds it all."""
        return write_ninja(self, folder)

    def try_load(self) -> Any | None:
        """Load the module if a store has a valid build for this machine; never compile."""

        def found() -> Entry | None:
            entry = find(self)
            return used(self, entry) if entry else None

        return load_found(found)

    def build(self, archs: Iterable[Arch] = (), observer: BuildObserver | None = None) -> Entry:
        """Compile unless a valid build exists; return the store entry."""
        return ensure(self, tuple(archs), observer).entry

    def build_and_load(self) -> Any:
        """Load the module, compiled first if needed."""
        return load_found(lambda: used(self, ensure_runs(self)))


def gen_jit_spec(
    name: str,
    sources: Sequence[str | Path],
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[str | Path] | None = None,
) -> JitSpec:
    """Make a spec from files. `-gencode` flags become its architectures, `-I` its include_dirs."""
    checked_name(name)
    paths = tuple(Path(os.path.abspath(source)) for source in sources)
    for path in paths:
        if not os.path.isfile(path):
            raise MissingFile(f"{name}: source {path} does not exist")
    if not paths:
        raise UsageError(f"{name}: no sources given")
    cuda_flags, cxx_flags = tuple(extra_cuda_cflags or ()), tuple(extra_cflags or ())
    # Why: the key's headers are searched on include_dirs, and a path must not be in the key.
    included = [flag[2:] for flag in (*cuda_flags, *cxx_flags) if _is_include(flag)]
    shipped = data_root("kernels")
    return JitSpec(
        name=name,
        sources=paths,
        extra_cuda_cflags=tuple(
            flag for flag in cuda_flags if not (parse_gencode(flag) or _is_include(flag))
        ),
        extra_cflags=tuple(flag for flag in cxx_flags if not _is_include(flag)),
        extra_ldflags=tuple(extra_ldflags or ()),
        include_dirs=(
            *(Path(os.path.abspath(path)) for path in (*(extra_include_paths or ()), *included)),
            shipped / "include",
            shipped,
        ),
        exact_archs=unique(arch for flag in cuda_flags for arch in parse_gencode(flag)),
        base=Path(os.path.commonpath([path.parent for path in paths])),
    )


def checked_name(name: str) -> str:
    """Return the name; refuse one that cannot name a folder in the cache."""
    if not name or "/" in name or name.startswith("."):
        raise UsageError(f"{name!r} cannot name a module", "use letters, digits, '_', '-' and '.'")
    return name


def _is_include(flag: str) -> bool:
    return flag.startswith("-I") and len(flag) > 2


def write_if_different(path: str | Path, content: str) -> None:
    """Write generated code; a file that already has this text keeps its mtime."""
    target = Path(path)
    if os.path.isfile(target) and read_bytes(target) == content.encode():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(target, content)
