"""sliding_window: attention to keys where abs(q_idx - kv_idx) <= window."""

from __future__ import annotations

from functools import lru_cache

import torch

from fictl.op import KernelModule, op

from .jit import module

kernel = KernelModule(module)


@op(archs=">=8.0", dtypes="f16 bf16", devices="cuda emu", mutates="out")
def sliding_window(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    window: int = 64,
    causal: bool = False,
    sm_scale: float | None = None,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """softmax(q @ k.T * sm_scale) @ v, over the keys where abs(q_idx - kv_idx) <= window.

    Of a query that sees no key it is 0.

    q_idx and kv_idx are token indices. The queries are at the end of the keys: the position of a
    query is kv_len - q_len + q_idx.

    q: (q_len, heads, head_dim); head_dim is a multiple of 8 up to 256. Last dimension
        contiguous, strides of heads and tokens multiples of 16 bytes.
    k, v: (kv_len, kv_heads, head_dim), of q's dtype; each head serves a group of q's.
    window: a whole number.
    causal: a query sees no keys after its own position.
    sm_scale: factor of q @ k.T. None is 1 / sqrt(head_dim).
    out: like q, contiguous. None allocates it.
    """
    _check(q, k)
    if out is None:
        out = q.new_empty(q.shape)
    (q_len, heads, head_dim), (kv_len, kv_heads, _) = q.shape, k.shape
    group = heads // kv_heads
    rows = 16 if q_len * group <= 16 else 64 if head_dim > 128 else 128
    work = _work(q_len, kv_len, group, rows, causal, q.device)
    scale = head_dim**-0.5 if sm_scale is None else sm_scale
    built = kernel[q.dtype, head_dim, rows]
    built.sliding_window(out, q, k, v, window, work, causal, scale)
    return out


def _check(q: torch.Tensor, k: torch.Tensor) -> None:
    """Check the shapes that the plan depends on."""
    for name, x in (("q", q), ("k", k)):
        if x.ndim != 3:
            raise ValueError(
                f"sliding_window: argument '{name}' has shape {tuple(x.shape)}; "
                "it is (tokens, heads, head_dim)"
            )
    heads, kv_heads = q.shape[1], k.shape[1]
    if q.shape[2] != k.shape[2] or not kv_heads or heads % kv_heads:
        raise ValueError(
            f"sliding_window: argument 'k' has shape {tuple(k.shape)}, 'q' {tuple(q.shape)}; "
            "heads must have one size, and q a multiple of k's number of heads"
        )


@lru_cache(maxsize=256)
def _work(
    q_len: int, kv_len: int, group: int, rows: int, causal: bool, device: torch.device
) -> torch.Tensor:
    """Make a line for each tile of `rows`: its first row, and its keys from `begin` to `end`.

    The last tile comes first: it has the most keys to go through if causal. Why kept: while a CUDA
    graph is captured, nothing may be copied from the host.
    """
    row = torch.arange(0, q_len * group, rows, dtype=torch.int32).flip(0)
    begin, end = torch.zeros_like(row), torch.full_like(row, kv_len)
    if causal:
        last_query = (row + rows - 1) // group
        end = (kv_len - q_len + last_query + 1).clamp(0, kv_len)
    none, whole = torch.zeros_like(row), torch.full_like(row, -1)
    queries, keys = torch.full_like(row, q_len), torch.full_like(row, kv_len)
    # As <fictl/attention/work.cuh> has it: request, row, q_start, q_len, kv_start, kv_len, begin,
    # end, partial, mask, and what fills the line.
    columns = (none, row, none, queries, none, keys, begin, end, whole, none, none, none)
    return torch.stack(columns, 1).to(device)
