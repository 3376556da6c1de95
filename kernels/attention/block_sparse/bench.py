"""Masks of video diffusion and of long contexts, and small odd ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from typing import Any

import torch

from fictl.trace import Case

_ROWS, _BLOCKS = "BlockSparseAttentionWrapper", "VariableBlockSparseAttentionWrapper"
# Scores of a dense mask that torch is given room for.
_MOST_SCORES = 1 << 31


def cases() -> Iterator[Case]:
    yield _rows(12, 20, (4, 5), 7)
    yield _rows(64, 48, (16, 3), 9)
    yield _blocks((3, 5), (70, 90), (4, 2), 64)
    yield _rows(8192, 8192, (64, 64), 128 * 32, (16, 16), 128)
    yield _rows(16384, 16384, (128, 128), 128 * 24, (32, 8), 128)
    # 64 x 64 blocks, of which each row sees 64: a video of 109632 tokens, on an eighth of 56 heads.
    yield _blocks((1713, 1713), (109632, 109632), (7, 7), 128)
    yield _blocks((1000, 1000), (50000, 50000), (7, 7), 128)


def _rows(
    queries: int,
    keys: int,
    block: tuple[int, int],
    nnz: int,
    heads: tuple[int, int] = (4, 2),
    dim: int = 64,
) -> Case:
    sizes = {
        "M": queries,
        "N": keys,
        "R": block[0],
        "C": block[1],
        "nnz": nnz,
        "num_qo_heads": heads[0],
        "num_kv_heads": heads[1],
        "head_dim": dim,
    }
    return Case(_ROWS, sizes, "bfloat16")


def _blocks(
    blocks: tuple[int, int], tokens: tuple[int, int], heads: tuple[int, int], dim: int
) -> Case:
    sizes = {
        "row_blocks": blocks[0],
        "col_blocks": blocks[1],
        "queries": tokens[0],
        "keys": tokens[1],
        "num_qo_heads": heads[0],
        "num_kv_heads": heads[1],
        "head_dim": dim,
    }
    return Case(_BLOCKS, sizes, "bfloat16")


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    """Name what to compare with: torch with a dense mask, its flex attention, and FlashInfer."""
    if function == _ROWS:
        return {"torch": _dense_rows, "flashinfer": _flashinfer_rows}
    return {"torch": _dense_blocks, "flex": _flex, "flashinfer": _flashinfer_blocks}


@lru_cache(maxsize=2)
def _workspace(device: torch.device) -> torch.Tensor:
    return torch.empty(256 << 20, dtype=torch.uint8, device=device)


def _attended(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor
) -> Callable[[], torch.Tensor]:
    """Attend (heads, tokens, dim) under a dense mask (1 or heads, queries, keys).

    The mask is bool, or what is added to scores.
    """
    empty = ~(mask if mask.dtype is torch.bool else mask > -math.inf).any(-1, keepdim=True)
    some = bool(empty.any())

    def run() -> torch.Tensor:
        out = torch.nn.functional.scaled_dot_product_attention(
            q[None], k[None], v[None], mask[None], enable_gqa=len(q) != len(k)
        )[0]
        return out.masked_fill(empty, 0.0) if some else out

    return run


def _check_dense(causal: bool, scores: int) -> None:
    """Decline the cases that a dense mask of whole blocks cannot stand for."""
    if causal:
        raise NotImplementedError("a mask of whole blocks is not causal")
    if scores > _MOST_SCORES:
        raise NotImplementedError(f"a dense mask of {scores} scores takes too much memory")


def _dense_rows(
    indptr: torch.Tensor,
    indices: torch.Tensor,
    M: int,
    N: int,
    R: int,
    C: int,
    causal: bool,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    **_others: Any,
) -> Callable[[], torch.Tensor]:
    _check_dense(causal, M * N)
    rows = torch.arange(M // R, device=q.device).repeat_interleave(indptr.diff())
    # A block that a row selects twice counts twice: its scores have the logarithm of 2 added.
    blocks = torch.zeros((M // R, N // C), device=q.device)
    blocks.index_put_((rows, indices.long()), torch.ones((), device=q.device), accumulate=True)
    dense = blocks.repeat_interleave(R, 0).repeat_interleave(C, 1)
    by_head = [x.transpose(0, 1) for x in (q, k, v)]
    mask = dense.log().to(q.dtype) if bool((dense > 1).any()) else dense > 0
    run = _attended(by_head[0], by_head[1], by_head[2], mask[None])
    return lambda: run().transpose(0, 1)


def _dense_blocks(
    block_mask_map: torch.Tensor,
    block_row_sz: torch.Tensor,
    block_col_sz: torch.Tensor,
    causal: bool,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    **_others: Any,
) -> Callable[[], torch.Tensor]:
    _check_dense(causal, len(q) * q.shape[1] * k.shape[1])
    heads = zip(block_mask_map, block_row_sz.long(), block_col_sz.long(), strict=True)
    dense = [m.repeat_interleave(r, 0).repeat_interleave(c, 1) for m, r, c in heads]
    mask = torch.stack(dense).repeat_interleave(len(q) // len(k), 0)
    return _attended(q, k, v, mask)


def _flex(
    block_mask_map: torch.Tensor,
    block_row_sz: torch.Tensor,
    block_col_sz: torch.Tensor,
    causal: bool,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    **_others: Any,
) -> Callable[[], torch.Tensor]:
    """Run flex attention; its blocks are of one size, and of 64 x 64 or more."""
    flex: Any = import_module("torch.nn.attention.flex_attention")
    sizes = {*block_row_sz.flatten().tolist(), *block_col_sz.flatten().tolist()}
    if causal or len(sizes) != 1 or min(sizes) < 64:
        raise NotImplementedError("flex attention takes blocks of one size, of 64 or more")
    counts = block_mask_map.sum(-1, dtype=torch.int32)[None]
    order = block_mask_map.int().sort(dim=-1, descending=True, stable=True).indices.int()[None]
    blocks = flex.BlockMask.from_kv_blocks(
        torch.zeros_like(counts), order, counts, order, BLOCK_SIZE=min(sizes)
    )
    attend: Any = torch.compile(flex.flex_attention, dynamic=False)
    grouped = len(q) != len(k)
    return lambda: attend(q[None], k[None], v[None], block_mask=blocks, enable_gqa=grouped)[0]


def _flashinfer_rows(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **planned: Any
) -> Callable[[], Any]:
    flashinfer: Any = import_module("flashinfer")
    wrapper = flashinfer.BlockSparseAttentionWrapper(_workspace(q.device))
    types = {"q_data_type": q.dtype, "kv_data_type": k.dtype, "o_data_type": q.dtype}
    wrapper.plan(**planned, **types)
    return lambda: wrapper.run(q, k, v)


def _flashinfer_blocks(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **planned: Any
) -> Callable[[], Any]:
    flashinfer: Any = import_module("flashinfer")
    wrapper = flashinfer.VariableBlockSparseAttentionWrapper(_workspace(q.device))
    wrapper.plan(**planned, q_data_type=q.dtype, kv_data_type=k.dtype)
    return lambda: wrapper.run(q, k, v)
