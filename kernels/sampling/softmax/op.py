"""softmax: probabilities of logits, in one read of them and one write."""

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
    """exp(logits / temperature) over its sum along each row, in fp32 whatever logits are.

    A row gives the same bit by bit wherever it is in whichever batch. As torch.softmax, a row with
    a NaN or a +inf, or of -inf alone, gives NaN everywhere; -inf beside finite numbers gives 0.

    logits: (rows, vocab), of up to 2^20 elements a row; the elements of a row are neighbours, the
        rows at any pitch. 16-bit ones are read as they are.
    temperature: a number for all rows, or (rows,) of a floating-point type, one for each. None is
        1. With 0 all finite logits of the row are equally likely, as with an infinite one, and
        infinite ones make it NaN.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    out: like logits, of float32; may be logits themselves. None allocates it.
    """
    of_rows, of_all = _temperature(temperature)
    if out is None:
        out = torch.empty(logits.shape, dtype=torch.float32, device=logits.device)
    kernel.softmax(out, logits, of_rows, of_all, enable_pdl is None or enable_pdl)
    return out


def _temperature(given: object) -> tuple[torch.Tensor | None, float]:
    """One for each row in fp32, or one for all."""
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
