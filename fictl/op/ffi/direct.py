"""Calls in a process without torch, which NumPy, JAX and CuPy do not need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Direct:
    """Replacement for Route without torch: always calls the FFI directly."""

    def __init__(
        self, _name: str, _schema: object, ffi: Callable[..., Any], *_of_torch: object
    ) -> None:
        self.ffi = ffi

    def call(self, *arguments: Any) -> Any:
        return self.ffi(*arguments)

    def bind(self, ffi: Callable[..., Any]) -> None:
        self.ffi = ffi


def is_dynamo_compiling() -> bool:
    return False
