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

    append_key, append_value: (tokens, heads, dim), of any dtype of whole bytes; the elements of a
        head are neighbours, tokens and heads at any pitch.
    batch_indices: (tokens,), the request of each; -1 is padding, of which nothing is copied.
    positions: (tokens,), the position of each in its request.
    paged_kv_cache: keys and values, (pages, 2, page_size, heads, dim), or a tuple of keys and of
        values, (pages, page_size, heads, dim) each; of append_key's dtype, pages, slots and heads
        at any pitch. page_size stands after heads where kv_layout is "HND", and may be left out
        where it is 1.
    kv_indices: (used pages,), the pages of all requests.
    kv_indptr: (requests + 1,), where those of each request begin in it. They have room for the new
        tokens.
    kv_last_page_len: (requests,); not read. All of these are int32 or int64.
    kv_layout: "NHD" or "HND".
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
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

    append_ckv: (tokens, ckv_dim), of any dtype of whole bytes; tokens at any pitch.
    append_kpe: (tokens, kpe_dim), likewise.
    batch_indices: (tokens,), the request of each; -1 is padding, of which nothing is copied.
    positions: (tokens,), the position of each in its request.
    ckv_cache: (pages, page_size, ckv_dim), of append_ckv's dtype; pages and slots at any pitch.
        None leaves that part out.
    kpe_cache: (pages, page_size, kpe_dim), of append_kpe's dtype, likewise.
    kv_indices: (used pages,), the pages of all requests.
    kv_indptr: (requests + 1,), where those of each request begin in it. They have room for the new
        tokens.
    kv_last_page_len: (requests,); not read. All of these are int32 or int64.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
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
