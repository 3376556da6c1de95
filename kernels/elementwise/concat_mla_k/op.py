"""concat_mla_k: put together the keys of MLA's heads, of which they share a part."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16 f32 e4m3 e5m2 u8", devices="cuda emu", mutates="k")
def concat_mla_k(
    k: torch.Tensor,
    k_nope: torch.Tensor,
    k_rope: torch.Tensor,
    *,
    backend: str = "default",
    enable_pdl: bool | None = None,
) -> None:
    """Fill k with the concatenation of each head's k_nope and its token's k_rope.

    k: (tokens, heads, nope_dim + rope_dim), of any dtype of whole bytes; last dimension contiguous,
        any stride of tokens and heads without overlap.
    k_nope: (tokens, heads, nope_dim), of k's dtype; last dimension contiguous, any other stride, as
        of a view of a wider projection.
    k_rope: (tokens, 1, rope_dim), likewise: the same for all heads.
    backend: default; FlashInfer's cake is the same.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    if backend not in ("default", "cake"):
        raise ValueError(
            f"concat_mla_k: argument 'backend' is {backend!r}; accepted: default, cake"
        )
    kernel.concat_mla_k(k, k_nope, k_rope, enable_pdl is None or enable_pdl)
