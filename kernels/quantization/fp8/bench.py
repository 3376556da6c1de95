"""Sizes of fp8 quantization that users meet: activations of models, a decode step to a prefill."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from fictl.bench import compiled
from fictl.trace import Case

_DTYPES = ("float16", "bfloat16", "float32")
_SMALL_GROUPS = ((1, 32, 32), (9, 512, 128), (5, 300, 100), (2, 2560, 2560))
_GROUPS = (
    (16384, 7168, 128),
    (4096, 7168, 128),
    (4096, 4096, 32),
    (4096, 7168, 7168),
    (64, 7168, 128),
    (1, 7168, 128),
)
_SMALL = (1, 8200)
_TENSOR = (64 * 7168, 4096 * 4096, 16384 * 7168)


def cases() -> Iterator[Case]:
    for dtype in _DTYPES:
        for sizes in _SMALL_GROUPS:
            yield _groups_case(*sizes, dtype)
        for n in _SMALL:
            yield Case("per_tensor_quant_fp8", {"n": n}, dtype)
            yield Case("per_tensor_quant_fp8", {"n": n}, dtype, passing=("scale",))
    for sizes in _GROUPS:
        yield _groups_case(*sizes, "bfloat16")
    for n in _TENSOR:
        yield Case("per_tensor_quant_fp8", {"n": n}, "bfloat16")
        yield Case("per_tensor_quant_fp8", {"n": n}, "bfloat16", passing=("scale",))


def _groups_case(rows: int, hidden: int, group_size: int, dtype: str) -> Case:
    sizes = {"rows": rows, "hidden": hidden, "group_size": group_size}
    return Case("per_token_group_quant_8bit", sizes, dtype)


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    by_torch: Callable[..., Any] = _groups if function == "per_token_group_quant_8bit" else _tensor
    return {"torch": by_torch, "inductor": compiled(by_torch)}


def _groups(
    x: torch.Tensor, group_size: int, eps: float, **flags: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Quantize groups without the flags, which the cases leave at False."""
    limits = torch.finfo(torch.float8_e4m3fn)
    groups = x.view(*x.shape[:-1], -1, group_size).float()
    scales = groups.abs().amax(-1, keepdim=True).clamp(min=eps) / limits.max
    out = (groups / scales).clamp(limits.min, limits.max).to(torch.float8_e4m3fn)
    return out.view(x.shape), scales.squeeze(-1)


def _tensor(x: torch.Tensor, scale: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
    limits = torch.finfo(torch.float8_e4m3fn)
    if scale is None:
        scale = (x.abs().amax().float().clamp(min=1e-10) / limits.max).reshape(1)
    return (x.float() / scale).clamp(limits.min, limits.max).to(torch.float8_e4m3fn), scale
