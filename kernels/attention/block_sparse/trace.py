"""Traces of attention to blocks of keys: each row of blocks attends the keys that it selects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import torch

from fictl.trace import Const, Expr, Scalar, Tensor, TraceTemplate, Var

from .._trace.axes import HEAD_COUNTS, HEADS, TOLERANCES, Axes, Inputs
from .._trace.inputs import indptr, workspace
from .._trace.reference import attention

_BLOCKS_DTYPE = "int32"


def _rows(
    indptr: torch.Tensor,
    indices: torch.Tensor,
    M: int,
    N: int,
    R: int,
    C: int,
    num_qo_heads: int,
    num_kv_heads: int,
    head_dim: int,
    causal: bool,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
) -> torch.Tensor:
    out = torch.zeros_like(q, dtype=torch.float64)
    for row, (begin, end) in enumerate(pairwise(indptr.tolist())):
        blocks = indices[begin:end].long()
        keys = (blocks[:, None] * C + torch.arange(C, device=q.device)).flatten()
        queries = slice(row * R, (row + 1) * R)
        out[queries] = attention(q[queries], k[keys], v[keys], causal)[0]
    return out


def _blocks(
    block_mask_map: torch.Tensor,
    block_row_sz: torch.Tensor,
    block_col_sz: torch.Tensor,
    num_qo_heads: int,
    num_kv_heads: int,
    head_dim: int,
    causal: bool,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
) -> torch.Tensor:
    out = torch.zeros_like(q, dtype=torch.float64)
    group = num_qo_heads // max(num_kv_heads, 1)
    for head in range(num_kv_heads):
        own = slice(head * group, (head + 1) * group)
        sizes = block_col_sz[head].long()
        begin = 0
        for row, count in enumerate(block_row_sz[head].tolist()):
            keys = block_mask_map[head, row].repeat_interleave(sizes)
            queries = slice(begin, begin + count)
            begin += count
            rows = q[own, queries].transpose(0, 1)
            seen = (k[head, keys][:, None], v[head, keys][:, None])
            out[own, queries] = attention(rows, *seen, causal)[0].transpose(0, 1)
    return out


def _init_rows(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Draw any blocks, in any order; a block that is drawn twice is seen twice."""
    rows, nnz, blocks = sizes["M"] // sizes["R"], sizes["nnz"], sizes["N"] // sizes["C"]
    starts = indptr(nnz, rows, device, generator)
    columns = torch.randint(0, max(blocks, 1), (nnz,), device=device, generator=generator)
    return {"indptr": starts, "indices": columns.int()}


def _init_blocks(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Draw which blocks a row sees, as many of each; even sizes where the tokens allow it."""
    heads, rows, cols = sizes["num_kv_heads"], sizes["row_blocks"], sizes["col_blocks"]
    scores = torch.rand((heads, rows, cols), device=device, generator=generator)
    seen = scores.topk(min(sizes["seen_blocks"], cols), -1).indices
    mask = torch.zeros_like(scores, dtype=torch.bool).scatter_(-1, seen, True)
    row_sizes = [indptr(sizes["queries"], rows, device, generator).diff() for _ in range(heads)]
    col_sizes = [indptr(sizes["keys"], cols, device, generator).diff() for _ in range(heads)]
    return {
        "block_mask_map": mask,
        "block_row_sz": torch.stack(row_sizes),
        "block_col_sz": torch.stack(col_sizes),
    }


def _validate_rows(**inputs: Any) -> None:
    begins, indices = inputs["indptr"].tolist(), inputs["indices"]
    if begins != sorted(begins) or begins[0] < 0 or begins[-1] > len(indices):
        raise ValueError(f"rows go from {begins[0]} to {begins[-1]} of {len(indices)} indices")
    blocks = len(inputs["k"]) // inputs["C"]
    if bool(((indices < 0) | (indices >= blocks)).any()):
        raise ValueError(f"an index is not one of {blocks} blocks of keys")


def _validate_blocks(**inputs: Any) -> None:
    for name, tokens in (("block_row_sz", inputs["q"]), ("block_col_sz", inputs["k"])):
        sizes = inputs[name]
        if bool((sizes < 0).any()) or bool((sizes.sum(-1) != tokens.shape[1]).any()):
            raise ValueError(f"{name} does not add up to {tokens.shape[1]} tokens")


def _rows_flops(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    scores = sizes["nnz"] * sizes["R"] * sizes["C"]
    return 4 * scores * sizes["num_qo_heads"] * sizes["head_dim"]


def _blocks_flops(sizes: Mapping[str, int], inputs: Mapping[str, Any]) -> int:
    mask, rows, cols = (
        inputs[name].double() for name in ("block_mask_map", "block_row_sz", "block_col_sz")
    )
    scores = int((torch.einsum("hmn,hn->hm", mask, cols) * rows).sum())
    group = sizes["num_qo_heads"] // sizes["num_kv_heads"]
    return 4 * scores * group * sizes["head_dim"]


_RUN = ("q", "k", "v", "out", "lse")


def _bound(
    wrapper: Any, inputs: dict[str, Any], **types: torch.dtype
) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Make (plan, run), for the dtypes that the tensors have."""
    ran = {name: inputs[name] for name in _RUN if name in inputs}
    planned = {name: value for name, value in inputs.items() if name not in ran}
    types |= {"q_data_type": inputs["q"].dtype, "kv_data_type": inputs["k"].dtype}
    return lambda: wrapper.plan(**planned, **types), lambda: wrapper.run(**ran)


def _bind_rows(inputs: dict[str, Any]) -> tuple[Callable[[], Any], Callable[[], Any]]:
    from .op import BlockSparseAttentionWrapper

    wrapper = BlockSparseAttentionWrapper(workspace(inputs["q"].device))
    return _bound(wrapper, inputs, o_data_type=inputs["q"].dtype)


def _bind_blocks(inputs: dict[str, Any]) -> tuple[Callable[[], Any], Callable[[], Any]]:
    from .op import VariableBlockSparseAttentionWrapper

    return _bound(VariableBlockSparseAttentionWrapper(workspace(inputs["q"].device)), inputs)


_DIM: Axes = {"head_dim": Const("values a head", "d")}
_SIZES: Inputs = {**HEAD_COUNTS, "head_dim": Scalar("int32", doc="values a head")}
_CAUSAL: Inputs = {
    "causal": Scalar("bool", False, "whether queries are the last of what their row selects")
}
_POSSIBLE = (
    "num_qo_heads % num_kv_heads == 0",
    "num_kv_heads >= 1",
    "head_dim in (64, 128, 256)",
)
# What tests cover, and what only FlashInfer has.
_OTHERS = (
    "mask",
    "packed_mask",
    "block_mask",
    "kv_block_lens",
    "q2k_indices",
    "q2k_num",
    "scale_q",
    "scale_k",
    "scale_v",
)
_CORNERS = ("return_lse", "use_fp16_qk_reduction", "non_blocking")

BlockSparseAttentionWrapper = TraceTemplate(
    axes={
        "M": Var("queries"),
        "N": Var("keys"),
        "R": Const("queries of a block", "r"),
        "C": Const("keys of a block", "c"),
        "nnz": Var("blocks that rows select"),
        "len_indptr": Expr("M // R + 1", "rows of blocks, and one"),
        **HEADS,
        **_DIM,
    },
    inputs={
        "indptr": Tensor(("len_indptr",), dtype=_BLOCKS_DTYPE, doc="where a row's blocks begin"),
        "indices": Tensor(("nnz",), dtype=_BLOCKS_DTYPE, doc="columns of blocks"),
        "M": Scalar("int32", doc="queries"),
        "N": Scalar("int32", doc="keys"),
        "R": Scalar("int32", doc="queries of a block"),
        "C": Scalar("int32", doc="keys of a block"),
        **_SIZES,
        **_CAUSAL,
        "q": Tensor(("M", "num_qo_heads", "head_dim")),
        "k": Tensor(("N", "num_kv_heads", "head_dim"), dtype_from="q"),
        "v": Tensor(("N", "num_kv_heads", "head_dim"), dtype_from="q"),
    },
    outputs={"out": Tensor(("M", "num_qo_heads", "head_dim"), dtype_from="q")},
    reference=_rows,
    constraints=(*_POSSIBLE, "M % R == 0", "N % C == 0", "M >= R or nnz == 0"),
    tolerances=TOLERANCES,
    init=_init_rows,
    validate=_validate_rows,
    bind=_bind_rows,
    flops=_rows_flops,
    at_default=(*_CORNERS, *_OTHERS),
    op_type="block_sparse",
    description="Attention of blocks of queries to the blocks of keys that a matrix (BSR) selects.",
)

VariableBlockSparseAttentionWrapper = TraceTemplate(
    axes={
        "row_blocks": Var("blocks of queries"),
        "col_blocks": Var("blocks of keys"),
        "seen_blocks": Var("blocks that a row sees"),
        "queries": Var("queries"),
        "keys": Var("keys"),
        **HEADS,
        **_DIM,
    },
    inputs={
        "block_mask_map": Tensor(
            ("num_kv_heads", "row_blocks", "col_blocks"), dtype="bool", doc="who sees what"
        ),
        "block_row_sz": Tensor(
            ("num_kv_heads", "row_blocks"), dtype=_BLOCKS_DTYPE, doc="queries of a block"
        ),
        "block_col_sz": Tensor(
            ("num_kv_heads", "col_blocks"), dtype=_BLOCKS_DTYPE, doc="keys of a block"
        ),
        **_SIZES,
        **_CAUSAL,
        "q": Tensor(("num_qo_heads", "queries", "head_dim")),
        "k": Tensor(("num_kv_heads", "keys", "head_dim"), dtype_from="q"),
        "v": Tensor(("num_kv_heads", "keys", "head_dim"), dtype_from="q"),
    },
    outputs={"out": Tensor(("num_qo_heads", "queries", "head_dim"), dtype_from="q")},
    reference=_blocks,
    constraints=(
        *_POSSIBLE,
        "col_blocks >= seen_blocks",
        "row_blocks >= 1 or queries == 0",
        "col_blocks >= 1 or keys == 0",
    ),
    tolerances=TOLERANCES,
    init=_init_blocks,
    validate=_validate_blocks,
    bind=_bind_blocks,
    flops=_blocks_flops,
    at_default=_CORNERS,
    op_type="block_sparse",
    description="Attention of blocks of queries to the blocks of keys that a mask selects.",
)
