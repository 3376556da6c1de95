"""JIT generator and AOT entry of min_p: one module, all dtypes dispatched at run time."""

from __future__ import annotations

from collections.abc import Iterator

from fictl.jit import JitSpec
from fictl.op import module_spec


def module() -> JitSpec:
    return module_spec(__file__)


def aot() -> Iterator[JitSpec]:
    yield module()
