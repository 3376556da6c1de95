"""Loading a finished build, once per process."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from fictl import settings
from fictl.errors import FictlError
from fictl.jit.spec import JitSpec
from fictl.jit.store.entry import MODULE, Entry
from fictl.jit.store.use import Removed, hold
from fictl.paths import cache_root

T = TypeVar("T")

_TRIES = 10

_loaded: dict[Path, Any] = {}
_used: dict[Hashable, tuple[JitSpec, str]] = {}


def load_found(find: Callable[[], Entry | None]) -> Any | None:
    """Load what `find` finds; find it again if it was cleared from the cache in between."""

    def once() -> Any | None:
        entry = find()
        return load(entry) if entry else None

    return _unless_removed(once)


def load(entry: Entry) -> Any:
    """The tvm-ffi module; its functions are its attributes. In the cache, mtime is last use."""
    module = _loaded.get(entry.path)
    if module is None:
        _keep(entry)
        if entry.manifest.device == "emu":
            _load_runtime()
        try:
            module = _tvm_ffi().load_module(str(entry.module))
        except (OSError, RuntimeError) as error:
            raise FictlError(
                f"{entry.manifest.module}: cannot load {entry.module}: {error}",
                f"fictl build {entry.manifest.module.rpartition('.')[2]} after removing {entry.path}",
            ) from error
        _loaded[entry.path] = module
    return module


def loaded_libraries() -> list[Path]:
    """Of this process, those that were loaded from a store."""
    return [entry / MODULE for entry in list(_loaded)]


def used(spec: JitSpec, entry: Entry) -> Entry:
    """Remember which recipe of this module the process runs from now on."""
    _used[same_module(spec)] = (spec, entry.manifest.recipe)
    return entry


def in_use(base: Path) -> list[tuple[JitSpec, str]]:
    """What was loaded last of every module whose sources lie there, with its recipe."""
    return [(spec, key) for spec, key in list(_used.values()) if spec.base == base]


def same_module(spec: JitSpec) -> Hashable:
    """Equal for specs of which one replaces the other after an edit of sources or flags."""
    parameters = spec.template.parameters if spec.template else {}
    return spec.project, spec.name, spec.sources, spec.runs_on, repr(sorted(parameters.items()))


def library(find: Callable[[], Entry]) -> Path:
    """The shared library of what `find` finds, for a caller that loads it itself."""

    def once() -> Path:
        entry = find()
        _keep(entry)
        return entry.module

    return _unless_removed(once)


def _unless_removed(action: Callable[[], T]) -> T:
    for _ in range(_TRIES):
        with suppress(Removed):
            return action()
    raise FictlError(
        f"builds vanish from the cache while they are loaded, {_TRIES} times in turn",
        f"end what clears it, or set {settings.WORKSPACE_BASE.name} to a cache of your own",
    )


def _keep(entry: Entry) -> None:
    """What is in the cache stays there while this process lives; its mtime is its last use."""
    if entry.path.is_relative_to(cache_root()):
        hold(entry.path)
        with suppress(OSError):
            os.utime(entry.path)


def _load_runtime() -> None:
    from fictl.jit.emulation import emulated_device

    emulated_device()


@cache
def _tvm_ffi() -> Any:
    """tvm-ffi, taught the one kind of error of binding/error.h that it does not know."""
    import tvm_ffi

    tvm_ffi.register_error(NotImplementedError)
    return tvm_ffi
