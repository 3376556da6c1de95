"""Load a finished build, once per process."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache
from pathlib import Path
from typing import Any

from fictl.errors import FictlError
from fictl.jit import cuda_runtime
from fictl.jit.emulation import emulated_device
from fictl.jit.module_spec import ModuleSpec
from fictl.jit.needed import record_needed
from fictl.jit.reproducible import remember_folders
from fictl.jit.store.entry import MODULE, Entry
from fictl.jit.store.use import keep, unless_removed

_loaded: dict[Path, Any] = {}
_used: dict[Hashable, tuple[ModuleSpec, str]] = {}


def load_found(find: Callable[[], Entry | None]) -> Any | None:
    """Load the build that `find` returns; search again if it was cleared in between."""

    def once() -> Any | None:
        entry = find()
        return load(entry) if entry else None

    return unless_removed(once)


def load(entry: Entry) -> Any:
    """Return the tvm-ffi module, with functions as attributes. In the cache, mtime is last use."""
    module = _loaded.get(entry.path)
    if module is None:
        keep(entry)
        tvm_ffi = _tvm_ffi()  # First: it imports torch, which brings a CUDA runtime.
        bring_runtime(entry)
        try:
            module = tvm_ffi.load_module(str(entry.module))
        except (OSError, RuntimeError) as error:
            again = f"fictl build {entry.manifest.module.rpartition('.')[2]} after removing {entry.path}"
            raise FictlError(
                f"{entry.manifest.module}: cannot load {entry.module}: {error}",
                cuda_runtime.too_old(str(error)) or again,
            ) from error
        _loaded[entry.path] = module
    return module


def bring_runtime(entry: Entry) -> None:
    """Make sure that this process has the runtime which a build links to."""
    if entry.manifest.device == "emu":
        emulated_device()
    else:
        cuda_runtime.bring(entry.manifest.cudart, entry.module)


def loaded_libraries() -> list[Path]:
    """Return the libraries that this process has loaded from a store."""
    return [entry / MODULE for entry in list(_loaded)]


def used(spec: ModuleSpec, entry: Entry) -> Entry:
    """Record which recipe of this module the process runs from now on."""
    remember_folders(spec, entry)
    _used[same_module(spec)] = (spec, entry.manifest.recipe)
    record_needed(spec, entry)
    return entry


def in_use(base: Path) -> list[tuple[ModuleSpec, str]]:
    """Return the specs with sources in `base`, each as last loaded, with its recipe."""
    return [(spec, key) for spec, key in list(_used.values()) if spec.base == base]


def same_module(spec: ModuleSpec) -> Hashable:
    """Return a key that stays equal when sources or flags of a module are edited."""
    parameters = spec.template.parameters if spec.template else {}
    return spec.project, spec.name, spec.sources, spec.runs_on, repr(sorted(parameters.items()))


@cache
def _tvm_ffi() -> Any:
    """Import tvm-ffi, and register the one error kind of binding/error.h that it does not know."""
    import tvm_ffi

    tvm_ffi.register_error(NotImplementedError)
    return tvm_ffi
