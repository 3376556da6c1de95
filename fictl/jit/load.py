"""Loading a finished build, once per process."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.errors import FictlError
from fictl.jit.store.entry import Entry
from fictl.jit.store.use import Removed, hold
from fictl.paths import cache_root

_TRIES = 10

_loaded: dict[Path, Any] = {}


def load_found(find: Callable[[], Entry | None]) -> Any | None:
    """Load what `find` finds; find it again if it was cleared from the cache in between."""
    for _ in range(_TRIES):
        with suppress(Removed):
            entry = find()
            return load(entry) if entry else None
    raise FictlError(
        f"builds vanish from the cache while they are loaded, {_TRIES} times in turn",
        f"end what clears it, or set {settings.WORKSPACE_BASE.name} to a cache of your own",
    )


def load(entry: Entry) -> Any:
    """The tvm-ffi module; its functions are its attributes. In the cache, mtime is last use."""
    module = _loaded.get(entry.path)
    if module is None:
        in_cache = entry.path.is_relative_to(cache_root())
        if in_cache:
            hold(entry.path)
        try:
            module = _tvm_ffi().load_module(str(entry.module))
        except (OSError, RuntimeError) as error:
            raise FictlError(
                f"{entry.manifest.module}: cannot load {entry.module}: {error}",
                f"fictl build {entry.manifest.module.rpartition('.')[2]} after removing {entry.path}",
            ) from error
        _loaded[entry.path] = module
        if in_cache:
            with suppress(OSError):
                os.utime(entry.path)
    return module


@cache
def _tvm_ffi() -> Any:
    """tvm-ffi, taught the one kind of error of binding/error.h that it does not know."""
    import tvm_ffi

    tvm_ffi.register_error(NotImplementedError)
    return tvm_ffi
