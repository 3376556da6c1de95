"""Comparison of the results of a replayed call with the recorded ones."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils.dlpack import from_dlpack

from fictl.case.compare import assert_close
from fictl.op.watch.dump.values import Opaque

# Two numbers a byte, which torch cannot convert: compared as bytes.
_PAIRS = {getattr(torch, "float4_e2m1fn_x2", None)}


@dataclass
class Comparison:
    """Raises AssertionError if two values differ; `compared` counts the equal ones."""

    tolerances: Mapping[str, tuple[float, float]]
    compared: int = 0

    def check(self, actual: Any, expected: Any, name: str) -> None:
        if isinstance(expected, Opaque) or expected is None:
            return
        if isinstance(expected, torch.Tensor):
            self._check_tensor(actual, expected, name)
        elif isinstance(expected, list | tuple):
            _check_length(actual, expected, (list, tuple), name)
            for i, (one, other) in enumerate(zip(actual, expected, strict=True)):
                self.check(one, other, f"{name}[{i}]")
        elif isinstance(expected, dict):
            _check_length(actual, expected, (dict,), name)
            for key, other in expected.items():
                assert key in actual, f"{name} has no {key!r}, the recorded one has"
                self.check(actual[key], other, f"{name}[{key!r}]")
        elif isinstance(expected, float) and isinstance(actual, int | float):
            assert_close(actual, expected, name, self.tolerances)
            self.compared += 1
        else:
            assert actual == expected, f"{name} is {actual!r}, recorded was {expected!r}"
            self.compared += 1

    def _check_tensor(self, actual: Any, expected: torch.Tensor, name: str) -> None:
        actual = from_dlpack(actual) if hasattr(actual, "__dlpack__") else actual
        assert isinstance(actual, torch.Tensor), f"{name} is {actual!r:.80}, recorded was a tensor"
        assert actual.dtype == expected.dtype, (
            f"{name} has dtype {actual.dtype}, recorded was {expected.dtype}"
        )
        if actual.dtype in _PAIRS:
            actual, expected = actual.view(torch.uint8), expected.view(torch.uint8)
        assert_close(actual, expected, name, self.tolerances)
        self.compared += 1


def _check_length(actual: Any, expected: Any, kinds: tuple[type[Sized], ...], name: str) -> None:
    recorded = f"a {type(expected).__name__} of {len(expected)}"
    assert isinstance(actual, kinds), f"{name} is {actual!r:.80}, recorded was {recorded}"
    seen = f"a {type(actual).__name__} of {len(actual)}"
    assert len(actual) == len(expected), f"{name} is {seen}, recorded was {recorded}"
