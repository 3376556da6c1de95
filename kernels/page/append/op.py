"""append: copy the keys and values of new tokens into a paged cache."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(
    archs=">=7.5",
    dtypes="f16 bf16 f32 e4m3 e5m2 u8",
    devices="cuda emu",
    mutates="paged_kv_cache",
)
def append_paged_kv_cache(
    append_key: torch.Tensor,
    append_value: torch.Tensor,
    batch_indices: torch.Tensor,
    positions: torch.Tensor,
    paged_kv_cache: torch.Tensor | tuple[torch.Tensor, torch.Tensor],
    kv_indices: torch.Tensor,
    kv_indptr: torch.Tensor,
    kv_last_page_len: torch.Tensor,
    kv_layout: str = "NHD",
    *,
    enable_pdl: bool | None = None,
) -> None:
    """Copy the key and the value of every token to the slot of its position in a paged cache.

    append_key, append_value: (tokens, heads, dim), of any dtype of whole bytes; last dimension
        contiguous, any stride of tokens and heads.
    batch_indices: (tokens,): the request of each token; -1 is padding, which is not copied.
    positions: (tokens,): the position of each token in its request.
    paged_kv_cache: keys and values, (pages, 2, page_size, heads, dim), or a tuple of keys and of
        values, (pages, page_size, heads, dim) each; of append_key's dtype, last dimension
        contiguous, the others at any stride. If kv_layout is "HND", heads come before page_size; a
        page_size of 1 may be left out.
    kv_indices: (used pages,): the pages of all requests.
    kv_indptr: (requests + 1,): where the pages of each request begin in kv_indices; they have room
        for the new tokens.
    kv_last_page_len: (requests,): not read. All of these are int32 or int64.
    kv_layout: "NHD" or "HND".
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    values = None
    if isinstance(paged_kv_cache, tuple):
        paged_kv_cache, values = paged_kv_cache
    kernel.append_paged_kv_cache(
        append_key,
        append_value,
        batch_indices,
        positions,
        paged_kv_cache,
        values,
        kv_indices,
        kv_indptr,
        kv_last_page_len,
        kv_layout,
        enable_pdl is None or enable_pdl,
    )


@op(
    archs=">=7.5",
    dtypes="f16 bf16 f32 e4m3 e5m2 u8",
    devices="cuda emu",
    mutates="ckv_cache kpe_cache",
)
def append_paged_mla_kv_cache(
    append_ckv: torch.Tensor,
    append_kpe: torch.Tensor,
    batch_indices: torch.Tensor,
    positions: torch.Tensor,
    ckv_cache: torch.Tensor | None,
    kpe_cache: torch.Tensor | None,
    kv_indices: torch.Tensor,
    kv_indptr: torch.Tensor,
    kv_last_page_len: torch.Tensor,
    *,
    enable_pdl: bool | None = None,
) -> None:
    """Copy the latent vector and the rotated key of every token to its slot of MLA's paged caches.

    append_ckv: (tokens, ckv_dim), of any dtype of whole bytes; last dimension contiguous, any
        stride of tokens.
    append_kpe: (tokens, kpe_dim), likewise.
    batch_indices: (tokens,): the request of each token; -1 is padding, which is not copied.
    positions: (tokens,): the position of each token in its request.
    ckv_cache: (pages, page_size, ckv_dim), of append_ckv's dtype; last dimension contiguous, any
        stride of pages and slots. None: that part is not copied.
    kpe_cache: (pages, page_size, kpe_dim), of append_kpe's dtype, likewise.
    kv_indices: (used pages,): the pages of all requests.
    kv_indptr: (requests + 1,): where the pages of each request begin in kv_indices; they have room
        for the new tokens.
    kv_last_page_len: (requests,): not read. All of these are int32 or int64.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    kernel.append_paged_mla_kv_cache(
        append_ckv,
        append_kpe,
        batch_indices,
        positions,
        ckv_cache,
        kpe_cache,
        kv_indices,
        kv_indptr,
        kv_last_page_len,
        enable_pdl is None or enable_pdl,
    )
