"""Checks of arguments that decide which kernel is built; the binding checks the others."""

from __future__ import annotations

import torch

from ._config import ACTIVATIONS, OPERANDS, OUTPUTS
from ._tactics import TACTICS, Tactic


def check_operand(op: str, name: str, x: torch.Tensor) -> None:
    """Refuse what is not a matrix, or a batch of them, of fp16 or bf16."""
    if x.dtype not in OPERANDS:
        raise TypeError(
            f"{op}: argument '{name}' has dtype {_short(x.dtype)}; accepted: {_names(OPERANDS)}"
        )
    if x.dim() < 2:
        raise ValueError(
            f"{op}: argument '{name}' has shape {tuple(x.shape)}, which is not a matrix"
        )


def check_matrices(op: str, **operands: torch.Tensor) -> None:
    """Refuse operands that are not of two dimensions."""
    for name, x in operands.items():
        check_operand(op, name, x)
        _check_dims(op, name, x, 2)


def check_bf16(op: str, dims: int, **operands: torch.Tensor) -> None:
    """Refuse operands that are not bf16, or not of so many dimensions."""
    for name, x in operands.items():
        if x.dtype != torch.bfloat16:
            raise TypeError(
                f"{op}: argument '{name}' has dtype {_short(x.dtype)}; accepted: bfloat16, and of "
                "dense float16"
            )
        _check_dims(op, name, x, dims)


def check_num_sms(op: str, num_sms: int | None) -> None:
    if num_sms is not None and num_sms < 1:
        raise ValueError(f"{op}: argument 'num_sms' is {num_sms}; it is None, or 1 and more")


def _check_dims(op: str, name: str, x: torch.Tensor, dims: int) -> None:
    if x.dim() != dims:
        raise ValueError(
            f"{op}: argument '{name}' has shape {tuple(x.shape)}, which is not {dims}-dimensional"
        )


def output_dtype(
    op: str, a: torch.Tensor, out: torch.Tensor | None, asked: torch.dtype | None
) -> torch.dtype:
    """Return the dtype of the outputs: `out`'s, the one asked for, or that of a."""
    dtype = out.dtype if out is not None else asked or a.dtype
    if out is not None and asked is not None and asked != dtype:
        raise TypeError(
            f"{op}: argument 'out' has dtype {_short(dtype)}, 'out_dtype' is {_short(asked)}"
        )
    if dtype not in OUTPUTS:
        name = "out" if out is not None else "out_dtype"
        what = "has dtype" if out is not None else "is"
        raise TypeError(
            f"{op}: argument '{name}' {what} {_short(dtype)}; accepted: {_names(OUTPUTS)}"
        )
    return dtype


def check_activation(op: str, activation: str) -> None:
    if activation not in ACTIVATIONS:
        raise ValueError(
            f"{op}: argument 'activation' is {activation!r}; accepted: {', '.join(ACTIVATIONS)}"
        )


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _names(dtypes: dict[torch.dtype, str]) -> str:
    return ", ".join(map(_short, dtypes))


def check_inner(
    op: str,
    a: torch.Tensor,
    b: torch.Tensor,
    k_of_a: int,
    k_of_b: int,
    names: tuple[str, str] = ("a", "b"),
) -> None:
    """Refuse operands whose inner dimensions, or whose dtypes, are not the same."""
    left, right = names
    if k_of_a != k_of_b:
        raise ValueError(
            f"{op}: arguments '{left}' and '{right}' have shapes {tuple(a.shape)} and "
            f"{tuple(b.shape)}: k is {k_of_a} of the one, {k_of_b} of the other"
        )
    if a.dtype != b.dtype:
        raise TypeError(
            f"{op}: argument '{right}' has dtype {_short(b.dtype)}, '{left}' has {_short(a.dtype)}"
        )


def check_output(op: str, out: torch.Tensor, shape: tuple[int, ...]) -> None:
    if out.shape != shape:
        name = "c" if op == "gemm_alpha_beta" else "out"
        raise ValueError(
            f"{op}: argument '{name}' has shape {tuple(out.shape)}; of these operands it has "
            f"{tuple(shape)}"
        )


def check_tactic(op: str, tactic: Tactic, backend: str) -> None:
    """Refuse a tactic of another backend, for whose tiles this one has no kernel."""
    schedules = {known.tactic.schedule for known in TACTICS[backend]}
    if tactic.schedule not in schedules:
        raise ValueError(
            f"{op}: argument 'tactic' is {tactic}, which is not of backend {backend!r}; its "
            f"schedules are {', '.join(sorted(schedules))}"
        )
