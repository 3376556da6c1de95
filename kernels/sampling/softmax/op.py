"""softmax: probabilities of logits, reading and writing memory once."""

from __future__ import annotations

from numbers import Real

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)

_FLOATING = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def softmax(
    logits: torch.Tensor,
    temperature: torch.Tensor | float | None = None,
    enable_pdl: bool | None = None,
    *,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Compute the softmax of logits / temperature along each row, in fp32 whatever their dtype.

    The result of a row is the same, bit by bit, in every batch. As in torch.softmax, a row with a
    NaN or a +inf, or of only -inf, gives NaN everywhere; -inf beside finite numbers gives 0.

    logits: (rows, vocab), fp32, fp16 or bf16, up to 2^20 elements a row; last dimension contiguous,
        any row stride.
    temperature: a number for all rows, or (rows,) of a floating-point dtype. None is 1. With 0 or
        an infinite one all finite logits of the row are equally likely, and infinite ones make it
        NaN.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    out: the shape of logits, float32; may be logits itself. None allocates it.
    """
    of_rows, of_all = _temperature(temperature)
    if out is None:
        out = torch.empty(logits.shape, dtype=torch.float32, device=logits.device)
    kernel.softmax(out, logits, of_rows, of_all, enable_pdl is None or enable_pdl)
    return out


def _temperature(given: object) -> tuple[torch.Tensor | None, float]:
    """Return the tensor of one float32 per row, or None, and the number for all rows."""
    if given is None:
        return None, 1.0
    if isinstance(given, torch.Tensor):
        if given.dtype not in _FLOATING:
            raise TypeError(
                f"softmax: argument 'temperature' has dtype {str(given.dtype)[6:]}; accepted: "
                "float16, bfloat16, float32, float64"
            )
        return given.float().contiguous(), 1.0
    if isinstance(given, bool) or not isinstance(given, Real):
        raise TypeError(
            f"softmax: argument 'temperature' is a {type(given).__name__}; pass None, a number, or "
            "a tensor with one a row"
        )
    return None, float(given)
