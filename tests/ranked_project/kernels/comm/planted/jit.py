"""Nothing is compiled for these ops: they are torch's own work."""

from __future__ import annotations

from collections.abc import Iterator

from fictl.jit import JitSpec


def aot() -> Iterator[JitSpec]:
    return iter(())
