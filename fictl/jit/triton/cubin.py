"""Triton's output: the code of one variant, for each GPU."""

from __future__ import annotations

from dataclasses import dataclass

from fictl.jit.triton.variant import Variant


@dataclass(frozen=True)
class Cubin:
    """Code for compute capability `arch`, such as 90; `ptx` is set if newer GPUs may compile it."""

    arch: int
    code: bytes
    ptx: str
    entry: str
    shared_bytes: int
    threads: int


@dataclass(frozen=True)
class Kernel:
    """A variant and its code."""

    variant: Variant
    cubins: tuple[Cubin, ...]
