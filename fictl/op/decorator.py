"""`@op(...)`: what a public function says of itself, once. The call itself stays untouched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from fictl.arch import Arch, ArchRule
from fictl.dtype import DType, parse_dtype
from fictl.errors import InvalidValue
from fictl.project.declaration import DEVICES

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Op:
    """A declaration: where an op runs, on what, and which arguments it writes."""

    name: str
    archs: ArchRule
    dtypes: tuple[DType, ...]
    devices: tuple[str, ...]
    mutates: tuple[str, ...]
    uses: tuple[str, ...] = ()

    def supports(self, gpu: Arch) -> bool:
        return self.archs.supports(gpu)


def op(
    *,
    archs: str,
    dtypes: str,
    mutates: str,
    devices: str = "cuda",
    uses: str = "",
    settings: Mapping[str, str] | None = None,
) -> Callable[[F], F]:
    """Declare a public function. All arguments are literals: `fictl list` reads them unimported.

    `archs` as in '>=8.0' or '9.0a 10.0f'; `dtypes` as in 'f16 bf16'; `mutates` names the arguments
    written; `uses` names ops of other modules that this one calls.
    """
    unknown = set(devices.split()) - set(DEVICES)
    if unknown:
        raise InvalidValue(f"unknown devices {sorted(unknown)}", f"some of {' '.join(DEVICES)}")
    rule = ArchRule.parse(archs)
    elements = tuple(parse_dtype(name) for name in dtypes.split())

    def declare(function: F) -> F:
        declared = Op(
            function.__name__, rule, elements,
            tuple(devices.split()), tuple(mutates.split()), tuple(uses.split()),
        )  # fmt: skip
        function.op = declared  # type: ignore[attr-defined]
        return function

    return declare
