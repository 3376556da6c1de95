"""Ways to double a tensor: one that is right, and others that a benchmark must not believe."""

from __future__ import annotations

import os
import time

import torch

from fictl.op import op

_results: dict[int, torch.Tensor] = {}
_calls = {"late": 0}


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")
def right(input: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """2 * input."""
    return torch.mul(input, 2.0, out=out)


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")
def wrong(input: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """3 * input."""
    return torch.mul(input, 3.0, out=out)


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")
def silent(input: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Writes nothing."""
    return torch.empty_like(input) if out is None else out


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")
def spoilt(input: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Leaves one NaN."""
    out = torch.mul(input, 2.0, out=out)
    out[-1] = float("nan")
    return out


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")
def remembering(input: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Computes where it has not seen the address before."""
    if out is None:
        out = torch.empty_like(input)
    if input.data_ptr() not in _results:
        _results[input.data_ptr()] = torch.mul(input, 2.0)
    return out.copy_(_results[input.data_ptr()])


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")
def late(input: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Works for some calls, and writes nothing from then on."""
    _calls["late"] += 1
    if out is None:
        out = torch.empty_like(input)
    return torch.mul(input, 2.0, out=out) if _calls["late"] < 10 else out


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="")
def returning(input: torch.Tensor) -> torch.Tensor:
    """Gives the result of an earlier call."""
    return _results.setdefault(input.data_ptr(), input * 2.0)


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")
def hanging(input: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Never returns."""
    while True:
        time.sleep(1)


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")
def dying(input: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Takes its process down."""
    os.abort()


@op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="input")
def inplace(input: torch.Tensor) -> None:
    """input *= 2."""
    input.mul_(2.0)


class Planned:
    """2 * input, by a factor that plan() sets."""

    def __init__(self) -> None:
        self._factor = 0.0

    def plan(self, factor: torch.Tensor) -> None:
        self._factor = float(factor[0])

    @op(archs=">=8.0", dtypes="f32", devices="cuda emu", mutates="out")
    def run(self, input: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        """factor * input."""
        return torch.mul(input, self._factor, out=out)
