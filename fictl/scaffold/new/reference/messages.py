"""The request to the process that calls a reference, and its answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ReferenceRequest:
    """Call `function` of the file `path` as the example does, or with `arguments`: values, or tensors
    by shape and dtype. `standalone` is the reference as the trace will have it, by its `parameters`.
    """

    path: str
    function: str
    example: str
    arguments: Mapping[str, Mapping[str, Any]] | None
    standalone: str
    parameters: Mapping[str, str]


@dataclass(frozen=True)
class ReferenceAnswer:
    """The call: its arguments, results and changed inputs; or the error, why there is none."""

    call: Mapping[str, Any] | None = None
    error: str = ""
