"""The shipped ops: `fictl.ops.rmsnorm(x, weight)`. They are found by folder, without a list."""

from __future__ import annotations

from typing import Any

from fictl.project.facade import Facade as _Facade
from fictl.project.project import Project as _Project

_facade = _Facade(_Project.shipped, globals())


def __getattr__(name: str) -> Any:
    return _facade.resolve(name)


def __dir__() -> list[str]:
    return _facade.names()
