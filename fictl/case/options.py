"""Options that choose cases of an op and say how they are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, TypeVar

Self = TypeVar("Self", bound="CaseOptions")


@dataclass(frozen=True)
class CaseOptions:
    """Options of every tool that runs cases: benchmark, profiler, debugger.

    dtype: only cases of this dtype.
    case: only cases whose text contains this, or one of several texts between commas.
    axes: sizes in place of the cases' own.
    cold: empty L2 before each call.
    refcheck: compare the results with the trace's reference.
    seed: seed of the random inputs.
    timeout: seconds for the cases of one op; its process is killed after them.
    """

    dtype: str = ""
    case: str = ""
    axes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    cold: bool = True
    refcheck: bool = True
    seed: int = 0
    timeout: float = 600.0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls: type[Self], data: Mapping[str, Any]) -> Self:
        """Options from JSON, where tuples are lists; those of another tool are left out."""
        own: dict[str, Any] = {one.name: data[one.name] for one in fields(cls)}
        own |= {name: tuple(value) for name, value in own.items() if isinstance(value, list)}
        axes = {name: tuple(sizes) for name, sizes in own["axes"].items()}
        return cls(**{**own, "axes": axes})
