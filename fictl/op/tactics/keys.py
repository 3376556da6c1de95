"""Keys: functions that make the key of a call, compiled at the first call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter
from typing import Any

from fictl.op.backend.placement import devices_are_alike
from fictl.op.declared import Op
from fictl.op.ffi.dynamo import constant_to_dynamo
from fictl.op.tactics.key import Part, sources, tactic_key
from fictl.op.tactics.spelling import key_text


class Keys:
    """Functions that make keys: `of(*arguments)`, and `traced` in a form that Dynamo follows.

    Compiled at the first call, since trace.py cannot be imported during op.py's import.
    """

    # Errors of a key if an argument is not the expected tensor: a NumPy array, a list, a scalar.
    none = (AttributeError, TypeError, IndexError)

    def __init__(self, op: Op, parameters: Sequence[Parameter], seen: Sequence[str]) -> None:
        self._op = op
        self._parameters = parameters
        self._seen = seen
        self._parts: list[Part] = []
        self.of: Callable[..., Any] = self._first
        self.traced: Callable[..., Any] = self._first

    def text(self, key: Any) -> str:
        """Write a key as in files."""
        return key_text((part.label for part in self._parts), key)

    @constant_to_dynamo
    def compile(self) -> None:
        if self._parts:
            return
        self._parts = tactic_key(
            self._parameters, self._seen, self._op.template, devices_are_alike()
        )
        self.traced = self._compiled("_bucket({})", "_exact({})")
        self.of = self._compiled("({} - 1).bit_length()", "{}")

    def _first(self, *values: Any) -> Any:
        self.compile()
        return self.of(*values)

    def _compiled(self, bucket: str, size: str) -> Callable[..., Any]:
        names = ", ".join(parameter.name for parameter in self._parameters)
        parts = "".join(f"{part}, " for part in sources(self._parts, bucket, size))
        outside = {"_bucket": _bucket, "_exact": _exact}
        key: Callable[..., Any] = eval(f"lambda {names}: ({parts})", outside)  # noqa: S307
        return key


# Where sizes are symbols, Dynamo guards the comparisons.
def _bucket(size: int) -> int:
    bits = 0
    while (1 << bits) < size:
        bits += 1
    return bits


def _exact(size: int) -> int:
    known = 0
    for bit in reversed(range(_bucket(size) + 1)):
        if size >= known + (1 << bit):
            known += 1 << bit
    return known
