"""Traces of attention to blocks of keys: each row of blocks attends the keys that it selects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from fictl.trace import Const, Expr, Scalar, Tensor, TraceTemplate, Var

from .._trace import reference
from .._trace.axes import HEAD_COUNTS, HEADS, TOLERANCES, Axes, Inputs
from .._trace.inputs import blocks_init, rows_init, workspace

_BLOCKS_DTYPE = "int32"


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
    reference=reference.block_rows,
    constraints=(*_POSSIBLE, "M % R == 0", "N % C == 0", "M >= R or nnz == 0"),
    tolerances=TOLERANCES,
    init=rows_init,
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
    reference=reference.block_mask,
    constraints=(
        *_POSSIBLE,
        "row_blocks >= 1 or queries == 0",
        "col_blocks >= 1 or keys == 0",
    ),
    tolerances=TOLERANCES,
    init=blocks_init,
    validate=_validate_blocks,
    bind=_bind_blocks,
    flops=_blocks_flops,
    at_default=_CORNERS,
    op_type="block_sparse",
    description="Attention of blocks of queries to the blocks of keys that a mask selects.",
)
