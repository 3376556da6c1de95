"""Axes, inputs and tolerances that the traces of attention share."""

from __future__ import annotations

from typing import TypeAlias

from fictl.trace import Const, Expr, Scalar, Tensor, Var

from .._head_dims import MOST

Axes: TypeAlias = dict[str, Const | Expr | Var]
Inputs: TypeAlias = dict[str, Tensor | Scalar]

# Softmax and two products lose more than one rounding of the result: probabilities are rounded to
# the type of the values before they are multiplied. Errors are of the size of values, not of sums.
# float32 is for an lse: the sum of the rounded probabilities, of 2^-9 each, or 0.003 of log2.
TOLERANCES = {
    "float32": (1e-3, 4e-3),
    "float16": (5e-3, 3e-3),
    "bfloat16": (2e-2, 1.6e-2),
}

HEADS: Axes = {
    "num_qo_heads": Const("heads of queries", "h"),
    "num_kv_heads": Const("heads of keys and values", "kv"),
}
# Of queries and keys, and of values: the sizes of a head.
DIMS: Axes = {
    "head_dim_qk": Const("elements a head of queries and keys", "d"),
    "head_dim_vo": Const("elements a head of values", "dv"),
}
PAGES: Axes = {
    "requests": Var("requests"),
    "len_indptr": Expr("requests + 1", "requests, and one"),
    "pages": Var("pages of the cache"),
    "used_pages": Var("pages of the requests"),
    "page_size": Const("slots a page", "ps"),
    "kv": Const("keys and values", value=2),
}
# Of calls with a table of pages for each request.
TABLES: Axes = {
    "pages": Var("pages of the cache"),
    "most_pages": Var("pages that a request may have"),
    "page_size": Const("slots a page", "ps"),
    "kv": Const("keys and values", value=2),
    **HEADS,
    "head_dim": Const("values a head", "d"),
}
HEAD_COUNTS: Inputs = {
    "num_qo_heads": Scalar("int32", doc="heads of queries"),
    "num_kv_heads": Scalar("int32", doc="heads of keys and values"),
}
CAUSAL: Inputs = {"causal": Scalar("bool", True, "whether later keys are not seen")}
SCORES: Inputs = {
    "window_left": Scalar("int32", -1, "how many keys before its own a query sees; -1: all"),
    "logits_soft_cap": Scalar("float32", 0.0, "what logits stay below; 0: they are as they are"),
}
SINKS: Inputs = {
    "sinks": Tensor(
        ("num_qo_heads",), dtype="float32", optional=True, doc="logit of a key without a value"
    )
}


def table_rules(requests: str) -> tuple[str, ...]:
    """Make the constraints of calls with tables of pages, for the axis of their requests."""
    return (
        "num_qo_heads % num_kv_heads == 0",
        "num_kv_heads >= 1",
        *of_dims("head_dim"),
        f"pages >= {requests} * most_pages",
        "page_size >= 1",
    )


def of_dims(*names: str) -> tuple[str, ...]:
    """Make the constraints of sizes of a head."""
    return tuple(rule for name in names for rule in (f"8 <= {name} <= {MOST}", f"{name} % 8 == 0"))


# What tests of attention cover, and traces do not; and what only FlashInfer has.
CORNERS = ("return_lse", "kv_cache_sf")
PREFILL_CORNERS = (*CORNERS, "packed_custom_mask", "use_fp16_qk_reduction")
HEAD_SCALES = ("scale_q", "scale_k", "scale_v")
PLAN_CORNERS = (
    *PREFILL_CORNERS,
    *HEAD_SCALES,
    "non_blocking",
    "disable_split_kv",
    "seq_lens",
    "seq_lens_q",
    "prefix_len_ptr",
    "token_pos_in_items_ptr",
    "token_pos_in_items_len",
    "max_item_len_ptr",
)
