"""Loading a finished build, once per process."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from fictl.errors import FictlError
from fictl.jit.entry import Entry
from fictl.paths import cache_root

_loaded: dict[Path, Any] = {}


def load(entry: Entry) -> Any:
    """The tvm-ffi module; its functions are its attributes. In the cache, mtime is last use."""
    module = _loaded.get(entry.path)
    if module is None:
        try:
            module = _tvm_ffi().load_module(str(entry.module))
        except (OSError, RuntimeError) as error:
            raise FictlError(
                f"{entry.manifest.module}: cannot load {entry.module}: {error}",
                f"fictl build {entry.manifest.module.rpartition('.')[2]} after removing {entry.path}",
            ) from error
        _loaded[entry.path] = module
        if entry.path.is_relative_to(cache_root()):
            with suppress(OSError):
                os.utime(entry.path)
    return module


@cache
def _tvm_ffi() -> Any:
    """tvm-ffi, taught the one kind of error of binding/error.h that it does not know."""
    import tvm_ffi

    tvm_ffi.register_error(NotImplementedError)
    return tvm_ffi
