"""Warming up: a process loads what it needs before it is given a solution or a reference."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from fictl.judge.inside.clock import clock, wait
from fictl.judge.inside.integrity import taken
from fictl.judge.modes import TIMED

# Whoever calls an op of fictl, or a solution in C++, loads these; forks cannot share them.
_LOADED = ("fictl.jit.build", "fictl.jit.load", "fictl.runnable.builders.python")


def warm(request: dict[str, Any]) -> dict[str, Any]:
    """Load what is needed and, on a GPU, make the context and load the kernels of every turn; for
    `records` also what a solution is called and recorded with.
    """
    for name in _LOADED:
        import_module(name)
    _look_around()
    if request["device"] == "cuda":
        _use_gpu()
        if request["records"]:
            import_module("tvm_ffi")
            with clock("cuda", TIMED):  # It loads CUPTI, and records a kernel.
                wait()
    return {}


def _look_around() -> None:
    """Do once what takes longer the first time: look for builders in all installed packages, and at all
    that a solution must not change, whose pages this process then has for itself.
    """
    from fictl.runnable import BuilderRegistry

    BuilderRegistry.get_instance()
    taken().changed()


def _use_gpu() -> None:
    """Do once what turns and checks do: the first launch of a kernel loads it."""
    import torch

    wait()
    generator = torch.Generator(device="cuda").manual_seed(0)
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        drawn = torch.randn([64, 64], device="cuda", generator=generator).clamp_(-2, 2).to(dtype)
        other = torch.empty_like(drawn).copy_(drawn)
        drawn @ other
        other.zero_()
        torch.equal(drawn.view(torch.uint8), drawn.clone().view(torch.uint8))
        bool(torch.isnan(drawn.float()).all())
