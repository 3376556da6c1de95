"""Expressions that a kernel and the test both evaluate: see kernels/surface.cuh."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch

Check = Callable[..., None]


def pointer(tensor: torch.Tensor) -> ctypes.c_void_p:
    return ctypes.c_void_p(tensor.data_ptr())


@pytest.fixture(autouse=True)
def _with_both_families(compiler: str) -> None:
    """Every test here runs once for each."""


@pytest.fixture
def address() -> Callable[[torch.Tensor], ctypes.c_void_p]:
    return pointer


@pytest.fixture
def agree(emulate) -> Check:
    """Run every expression of a fixture on three tensors, and compare with `references`.

    `read` turns an element into what expressions get as x, y and z; `matches(word, expected)`
    compares the bits of a result.
    """

    def check(
        source: str,
        name: str,
        tensors: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
        references: Mapping[str, Any],
        matches: Callable[[int, Any], bool],
        read: Callable[[torch.Tensor], list[Any]] = torch.Tensor.tolist,
        checked: bool = False,
    ) -> None:
        library = emulate(source, checked=checked)
        texts = getattr(library, f"{name}_expressions")
        texts.restype = ctypes.c_char_p
        expressions = texts().decode().splitlines()
        out = torch.zeros(len(expressions), len(tensors[0]), dtype=torch.int64)
        assert getattr(library, name)(*map(pointer, (*tensors, out)), len(tensors[0])) == 0
        columns = list(zip(*map(read, tensors), strict=True))
        for expression, words in zip(expressions, out.tolist(), strict=True):
            code = compile(expression, expression, "eval")
            for (x, y, z), word in zip(columns, words, strict=True):
                expected = eval(code, {**references, "x": x, "y": y, "z": z})
                said = f"{expression} at {(x, y, z)}: {word:#x}, not {expected}"
                assert matches(word & 2**64 - 1, expected), said

    return check
