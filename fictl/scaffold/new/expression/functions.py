"""The functions that an expression may call, and what each is called in every language."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ExpressionFunction:
    """`{0}` and `{1}` are its arguments. `header` is the fictl header that C++ needs for it."""

    torch: str
    cpp: str
    triton: str
    arguments: int = 1
    header: str = ""


def _ours(name: str, torch: str, triton: str) -> ExpressionFunction:
    return ExpressionFunction(torch, f"device::{name}({{0}})", triton, header="functions")


FUNCTIONS = {
    "exp": ExpressionFunction(
        "torch.exp({0})", "device::fast_exp({0})", "tl.exp({0})", header="functions"
    ),
    "log": ExpressionFunction("torch.log({0})", "log({0})", "tl.log({0})"),
    "sqrt": ExpressionFunction("torch.sqrt({0})", "sqrt({0})", "tl.sqrt({0})"),
    "rsqrt": ExpressionFunction("torch.rsqrt({0})", "rsqrt({0})", "tl.rsqrt({0})"),
    "sin": ExpressionFunction("torch.sin({0})", "sin({0})", "tl.sin({0})"),
    "cos": ExpressionFunction("torch.cos({0})", "cos({0})", "tl.cos({0})"),
    "erf": ExpressionFunction("torch.erf({0})", "erf({0})", "tl.erf({0})"),
    "abs": ExpressionFunction("torch.abs({0})", "fabs({0})", "tl.abs({0})"),
    "floor": ExpressionFunction("torch.floor({0})", "floor({0})", "tl.floor({0})"),
    "ceil": ExpressionFunction("torch.ceil({0})", "ceil({0})", "tl.ceil({0})"),
    "tanh": ExpressionFunction("torch.tanh({0})", "tanh({0})", "libdevice.tanh({0})"),
    "sigmoid": _ours("sigmoid", "torch.sigmoid({0})", "tl.sigmoid({0})"),
    "silu": _ours("silu", "torch.nn.functional.silu({0})", "_silu({0})"),
    "relu": _ours("relu", "torch.relu({0})", "tl.maximum({0}, 0.0)"),
    "gelu": _ours("gelu", "torch.nn.functional.gelu({0})", "_gelu({0})"),
    "gelu_tanh": _ours(
        "gelu_tanh",
        'torch.nn.functional.gelu({0}, approximate="tanh")',
        "_gelu_tanh({0})",
    ),
    "softplus": _ours("softplus", "torch.nn.functional.softplus({0})", "_softplus({0})"),
    "min": ExpressionFunction(
        "torch.minimum({0}, {1})", "fmin({0}, {1})", "tl.minimum({0}, {1})", 2
    ),
    "max": ExpressionFunction(
        "torch.maximum({0}, {1})", "fmax({0}, {1})", "tl.maximum({0}, {1})", 2
    ),
    "where": ExpressionFunction(
        "torch.where({0}, {1}, {2})", "({0} ? {1} : {2})", "tl.where({0}, {1}, {2})", 3
    ),
}

# Over a row, of one argument. In torch, `{dim}` is what says which dimension.
REDUCTIONS = {
    "sum": "{0}.sum({dim})",
    "mean": "{0}.mean({dim})",
    "max": "{0}.amax({dim})",
    "min": "{0}.amin({dim})",
}
