"""Request: what a user says of a new op, as texts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NewOpRequest:
    """Empty is not said. `reference` is `file.py:function`, `example` a call of it; `kernel` is
    `file.cu:entry`; `definition` is a file;
    `grid` and `block` are sizes over the op's axes.
    """

    name: str
    kind: str = ""
    family: str = ""
    inputs: tuple[str, ...] = ()
    scalars: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    dtypes: str = ""
    archs: str = ""
    expression: str = ""
    reference: str = ""
    example: str = ""
    kernel: str = ""
    doc: str = ""
    definition: str = ""
    grid: str = ""
    block: str = ""

    @property
    def says_nothing(self) -> bool:
        """True if only the name is given: then there is something to ask."""
        return self == NewOpRequest(self.name)
