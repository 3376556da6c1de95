"""Config: what a module of dense is built for."""

from __future__ import annotations

from typing import NamedTuple

import torch

from ._tactics import Tactic

OPERANDS = {torch.bfloat16: "__nv_bfloat16", torch.float16: "__half"}
OUTPUTS = {**OPERANDS, torch.float32: "float"}


class Activation(NamedTuple):
    """An activation's C++ type, and the columns that make one output."""

    cpp_type: str
    columns: int = 1


ACTIVATIONS = {
    "none": Activation("Pointwise<activation::Identity>"),
    "relu": Activation("Pointwise<activation::Relu>"),
    "gelu": Activation("Pointwise<activation::Gelu>"),
    "gelu_tanh": Activation("Pointwise<activation::GeluTanh>"),
    "silu": Activation("Pointwise<activation::Silu>"),
    "swiglu": Activation("Gated<activation::Silu>", columns=2),
    "geglu": Activation("Gated<activation::Gelu>", columns=2),
}


class Config(NamedTuple):
    """One kernel: nothing is compiled that was not asked for.

    rows_a, rows_b: whether the rows of the operand, and not k, are its contiguous dimension.
    tile_m and all after it: as in Tactic.
    """

    dtype: torch.dtype
    out: torch.dtype
    rows_a: bool
    rows_b: bool
    activation: str
    has_bias: bool
    has_c: bool
    backend: str
    tile_m: int
    tile_n: int
    schedule: str
    cluster: int
    cluster_n: int
    cluster_k: int
    swap: bool
    panels: int

    @property
    def parameters(self) -> dict[str, object]:
        """The parameters of config.jinja."""
        return {
            "type": OPERANDS[self.dtype],
            "out": OUTPUTS[self.out],
            "major_a": "kMN" if self.rows_a else "kK",
            "major_b": "kMN" if self.rows_b else "kK",
            "activation": ACTIVATIONS[self.activation].cpp_type,
            "has_bias": _cpp(self.has_bias),
            "has_c": _cpp(self.has_c),
            "tile_m": self.tile_m,
            "tile_n": self.tile_n,
            "backend": self.backend,
            "schedule": "kPingPong" if self.schedule == "pingpong" else "kCooperative",
            "cluster": self.cluster,
            "cluster_n": self.cluster_n,
            "cluster_k": self.cluster_k,
            "swap": _cpp(self.swap),
            "panels": self.panels,
        }


def config_of(
    dtype: torch.dtype,
    out: torch.dtype,
    rows: tuple[bool, bool],
    activation: str,
    has: tuple[bool, bool],
    backend: str,
    tactic: Tactic,
) -> Config:
    """Return the configuration with those of a tactic's numbers that a kernel is built for."""
    return Config(
        dtype,
        out,
        *rows,
        activation,
        *has,
        backend,
        tactic.tile_m,
        tactic.tile_n,
        tactic.schedule,
        tactic.cluster,
        tactic.cluster_n,
        tactic.cluster_k,
        tactic.swap,
        tactic.panels,
    )


def _cpp(value: bool) -> str:
    return "true" if value else "false"
