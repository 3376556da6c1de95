"""Traces of top_k, its two transforms and top_k_varlen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import torch

from fictl.trace import Const, Expr, Scalar, Tensor, TraceTemplate, Var

Mapped = Callable[[int, list[int]], list[int]]
_NONE, _LARGE = 0, 2  # of TopKTieBreak
# What is compared in their place: above all numbers of fp32.
_INFINITY, _NAN = 1e300, 1e301


def _top(x: torch.Tensor, k: int, tie_break: int) -> torch.Tensor:
    """Return the indices of the k largest of each row, ascending; NaN is above all."""
    last = tie_break == _LARGE
    x = _with_one_nan(x).double()
    ordered = (x.flip(-1) if last else x).sort(dim=-1, descending=True, stable=True)
    chosen = ordered.indices[..., :k]
    return (x.shape[-1] - 1 - chosen if last else chosen).sort(dim=-1).values


def _with_one_nan(x: torch.Tensor) -> torch.Tensor:
    """Replace every NaN by one: CUDA's sort puts a NaN with a sign below all."""
    return x.masked_fill(x.isnan(), torch.nan)


def _top_k(
    input: torch.Tensor,
    k: int,
    sorted: bool = False,
    deterministic: bool = False,
    tie_break: int = _NONE,
    dsa_graph_safe: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return values and indices in the order of the row, or the largest first."""
    indices = _top(input, k, tie_break)
    values = input.gather(1, indices)
    if sorted:
        ordered = values.sort(dim=1, descending=True, stable=True)
        values, indices = ordered.values, indices.gather(1, ordered.indices)
    return values, indices


def _judge_top_k(inputs: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    x, k, tie_break = _with_one_nan(inputs["input"]), inputs["k"], inputs.get("tie_break", _NONE)
    values, indices = _with_one_nan(results["values"]), results["indices"]
    assert values.shape == indices.shape == (len(x), k), "wrong shape"
    if indices.numel() == 0:
        return
    ordered = indices.sort(dim=1).values
    assert int(ordered[:, 0].min()) >= 0, "an index is below 0"
    assert int(ordered[:, -1].max()) < x.shape[1], "an index is beyond its row"
    assert bool((ordered.diff(dim=1) > 0).all()), "an element is chosen twice"
    _assert_equal(values, x.gather(1, indices), "values are not those of the indices")
    largest = x.gather(1, _top(x, k, _NONE)).sort(dim=1, descending=True).values
    result = values if inputs.get("sorted", False) else values.sort(dim=1, descending=True).values
    _assert_equal(result, largest, "values are not the largest, or not in their order")
    if tie_break != _NONE:
        assert torch.equal(ordered, _top(x, k, tie_break)), (
            "other equal elements than tie_break says"
        )


def _assert_equal(actual: torch.Tensor, expected: torch.Tensor, problem: str) -> None:
    same = (actual == expected) | (actual.isnan() & expected.isnan())
    assert bool(same.all()), f"{problem}: the first at {(~same).nonzero()[0].tolist()}"


def _windows(inputs: Mapping[str, Any]) -> list[torch.Tensor]:
    """Return the scores of each row that count."""
    x, lengths, starts = inputs["input"], inputs["lengths"], inputs.get("row_starts")
    windows = []
    for row, scores in enumerate(x):
        start = 0 if starts is None else min(max(int(starts[row]), 0), x.shape[1])
        windows.append(scores[start : start + max(int(lengths[row]), 0)])
    return windows


def _in_pages(inputs: Mapping[str, Any]) -> Mapped:
    """Return the function from a row's indices to places in the cache."""
    table, size = inputs["src_page_table"].tolist(), inputs.get("page_size", 1)
    starts = inputs.get("page_table_row_starts")
    starts = inputs.get("row_starts") if starts is None else starts
    batches = inputs.get("row_to_batch")

    def mapped(row: int, indices: list[int]) -> list[int]:
        batch = row if batches is None else int(batches[row])
        pages = table[batch] if 0 <= batch < len(table) else []
        start = 0 if starts is None else int(starts[row])
        return [
            pages[start + i // size] * size + i % size if start + i // size < len(pages) else -1
            for i in indices
        ]

    return mapped


def _at_offsets(inputs: Mapping[str, Any]) -> Mapped:
    offsets = inputs["offsets"].tolist()
    return lambda row, indices: [i + offsets[row] for i in indices]


def _transformed(inputs: Mapping[str, Any], mapped: Mapped) -> torch.Tensor:
    """Return the places in the order of the row, padded with -1."""
    k, rows = inputs["k"], len(inputs["input"])
    out = torch.full((rows, k), -1, dtype=torch.int32, device=inputs["input"].device)
    for row, scores in enumerate(_windows(inputs)):
        indices = _top(scores, k, inputs.get("tie_break", _NONE)).tolist()
        out[row, : len(indices)] = torch.tensor(
            mapped(row, indices), dtype=torch.int32, device=out.device
        )
    return out


def _judge_transform(inputs: Mapping[str, Any], out: torch.Tensor, mapped: Mapped) -> None:
    """Check that all above the smallest chosen are there, equal ones as fit, and -1 behind."""
    k, tie_break = inputs["k"], inputs.get("tie_break", _NONE)
    assert out.shape == (len(inputs["input"]), k), "wrong shape"
    for row, (scores, got) in enumerate(zip(_windows(inputs), out.tolist(), strict=True)):
        best = _top(scores, k, tie_break)
        count = len(best)
        assert set(got[count:]) <= {-1}, f"row {row} does not end with -1"
        if not count:
            continue
        ordered = scores.double().nan_to_num(nan=_NAN, posinf=_INFINITY)
        least = ordered[best].min()
        above = mapped(row, (ordered > least).nonzero().flatten().tolist())
        equal = (ordered == least).nonzero().flatten()
        if tie_break != _NONE:
            equal = best[ordered[best] == least]
        rest = Counter(got[:count])
        rest.subtract(above)
        assert min(rest.values()) >= 0, f"row {row} lacks scores above the least one chosen"
        rest -= Counter(mapped(row, equal.tolist()))
        assert not +rest, f"row {row} has what is not among its largest scores: {[*rest][:3]}"


def _page_table_transform(
    input: torch.Tensor,
    src_page_table: torch.Tensor,
    lengths: torch.Tensor,
    k: int,
    row_to_batch: torch.Tensor | None = None,
    deterministic: bool = False,
    tie_break: int = _NONE,
    dsa_graph_safe: bool = False,
    row_starts: torch.Tensor | None = None,
    page_table_row_starts: torch.Tensor | None = None,
    page_size: int = 1,
) -> torch.Tensor:
    inputs = {
        "input": input,
        "src_page_table": src_page_table,
        "lengths": lengths,
        "k": k,
        "tie_break": tie_break,
        "row_to_batch": row_to_batch,
        "row_starts": row_starts,
        "page_size": page_size,
        "page_table_row_starts": page_table_row_starts,
    }
    return _transformed(inputs, _in_pages(inputs))


def _ragged_transform(
    input: torch.Tensor,
    offsets: torch.Tensor,
    lengths: torch.Tensor,
    k: int,
    deterministic: bool = False,
    tie_break: int = _NONE,
    dsa_graph_safe: bool = False,
    row_starts: torch.Tensor | None = None,
) -> torch.Tensor:
    inputs = {
        "input": input,
        "offsets": offsets,
        "lengths": lengths,
        "k": k,
        "tie_break": tie_break,
        "row_starts": row_starts,
    }
    return _transformed(inputs, _at_offsets(inputs))


def _lengths(seq_lens: torch.Tensor, next_n: int, compress_ratio: int) -> torch.Tensor:
    """Return the number of scores of each row; it may exceed what there are, or be below 0."""
    before = torch.arange(next_n - 1, -1, -1, device=seq_lens.device)
    return ((seq_lens[:, None].long() - before) // compress_ratio).flatten()


def _varlen(
    logits: torch.Tensor,
    seq_lens: torch.Tensor,
    top_k: int,
    compress_ratio: int = 1,
    next_n: int = 1,
    tie_break: int = _NONE,
) -> torch.Tensor:
    lengths = _lengths(seq_lens, next_n, compress_ratio)
    return _ragged_transform(logits, lengths * 0, lengths, top_k, tie_break=tie_break)


def _judge_varlen(inputs: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    x, indices = inputs["logits"], results["out_indices"]
    lengths = _lengths(inputs["seq_lens"], inputs.get("next_n", 1), inputs.get("compress_ratio", 1))
    asked = {"input": x, "lengths": lengths, "k": inputs["top_k"]}
    asked["tie_break"] = inputs.get("tie_break", _NONE)
    _judge_transform(asked, indices, lambda row, chosen: chosen)
    if (values := results.get("out_values")) is not None:
        with_none = torch.nn.functional.pad(x, (0, 1))  # Where -1 leads to.
        expected = with_none.gather(1, indices.long() % with_none.shape[1])
        _assert_equal(values, expected, "values are not those of the indices")


def _judge_page_table_transform(inputs: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    _judge_transform(inputs, results["out"], _in_pages(inputs))


def _judge_ragged_transform(inputs: Mapping[str, Any], results: Mapping[str, Any]) -> None:
    _judge_transform(inputs, results["out"], _at_offsets(inputs))


def _init(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make rows of at least half of max_len; they start in its first quarter."""
    rows, most = sizes["rows"], sizes["max_len"]

    def numbers(low: int, high: int, *shape: int) -> torch.Tensor:
        values = torch.randint(low, high + 1, shape or (rows,), device=device, generator=generator)
        return values.to(torch.int32)

    starts = numbers(0, most // 4)
    lengths = {"lengths": numbers(most // 2, most - most // 4), "row_starts": starts}
    if "pages" not in sizes:
        return {**lengths, "offsets": torch.arange(rows, dtype=torch.int32, device=device) * most}
    entries = sizes["batch_size"] * sizes["pages"]
    pages = torch.randperm(entries, device=device, generator=generator).to(torch.int32)
    return {
        **lengths,
        "src_page_table": pages.view(sizes["batch_size"], sizes["pages"]),
        "row_to_batch": numbers(0, max(sizes["batch_size"] - 1, 0)),
        "page_table_row_starts": starts // 2,
    }


def _init_varlen(
    sizes: Mapping[str, int], dtype: torch.dtype, device: str, generator: torch.Generator
) -> dict[str, torch.Tensor]:
    """Make requests of half of max_len to all of it."""
    most = sizes["max_len"]
    lengths = torch.randint(
        most // 2, most + 1, (sizes["requests"],), device=device, generator=generator
    )
    return {"seq_lens": lengths.to(torch.int32)}


_AXES: dict[str, Var | Const] = {
    "rows": Var("queries"),
    "max_len": Var("scores a row"),
    "k": Var("scores that are chosen"),
}
_SCORES = Tensor(("rows", "max_len"), doc="scores")
_LENGTHS = Tensor(("rows",), dtype="int32", doc="the scores that count")
_STARTS = Tensor(("rows",), dtype="int32", optional=True, doc="where the scores of a row start")
_K = Scalar("int32", 4, "how many")
_FLAGS = {
    "deterministic": Scalar("bool", value=False, doc="in the order of the indices"),
    "tie_break": Scalar("int32", _NONE, "which of equal ones are chosen, of TopKTieBreak"),
    "dsa_graph_safe": Scalar("bool", value=False, doc="changes nothing"),
}

top_k = TraceTemplate(
    axes={
        "rows": Var("rows"),
        "cols": Const("elements a row", "v"),
        "k": Var("elements that are chosen"),
    },
    inputs={
        "input": Tensor(("rows", "cols")),
        "k": _K,
        "sorted": Scalar("bool", value=False, doc="the largest first"),
        **_FLAGS,
    },
    outputs={
        "values": Tensor(("rows", "k"), dtype_from="input"),
        "indices": Tensor(("rows", "k"), dtype="int64"),
    },
    reference=_top_k,
    judge=_judge_top_k,
    constraints=("k <= cols",),
    description="The k largest elements of every row, in any order, and their indices.",
)

top_k_page_table_transform = TraceTemplate(
    axes={
        **_AXES,
        "batch_size": Var("rows of the page table"),
        "pages": Var("entries of a row of it"),
    },
    inputs={
        "input": _SCORES,
        "src_page_table": Tensor(("batch_size", "pages"), dtype="int32", doc="places in a cache"),
        "lengths": _LENGTHS,
        "k": _K,
        "row_to_batch": Tensor(
            ("rows",), dtype="int32", optional=True, doc="the row of the page table"
        ),
        **_FLAGS,
        "row_starts": _STARTS,
        "page_table_row_starts": Tensor(
            ("rows",), dtype="int32", optional=True, doc="where the entries of a row start"
        ),
        "page_size": Scalar("int32", 1, "scores a page"),
    },
    outputs={"out": Tensor(("rows", "k"), dtype="int32", doc="-1 where there is none")},
    reference=_page_table_transform,
    judge=_judge_page_table_transform,
    init=_init,
    description="Where the k largest scores of every row are in the pages of a cache.",
)

top_k_varlen = TraceTemplate(
    axes={
        "requests": Var("requests"),
        "rows": Expr("requests * next_n", "queries"),
        "max_len": Var("scores a row"),
        "top_k": Var("scores that are chosen"),
    },
    inputs={
        "logits": Tensor(("rows", "max_len"), doc="scores"),
        "seq_lens": Tensor(("requests",), dtype="int32", doc="tokens of each request"),
        "top_k": Scalar("int32", 4, "how many"),
        "compress_ratio": Scalar("int32", 1, "tokens a score"),
        "next_n": Scalar("int32", 1, "rows a request"),
        "tie_break": Scalar("int32", _NONE, "which of equal ones are chosen, of TopKTieBreak"),
    },
    outputs={"out_indices": Tensor(("rows", "top_k"), dtype="int32", doc="-1 where there is none")},
    reference=_varlen,
    judge=_judge_varlen,
    init=_init_varlen,
    at_default=(
        "pre_idx",
        "return_values",
        "backend",
        "load_balance",
        "workspace",
        "deterministic",
    ),
    description="The k largest scores of rows whose lengths follow from those of their requests.",
)

top_k_ragged_transform = TraceTemplate(
    axes=_AXES,
    inputs={
        "input": _SCORES,
        "offsets": Tensor(("rows",), dtype="int32", doc="added to each index of a row"),
        "lengths": _LENGTHS,
        "k": _K,
        **_FLAGS,
        "row_starts": _STARTS,
    },
    outputs={"out": Tensor(("rows", "k"), dtype="int32", doc="-1 where there is none")},
    reference=_ragged_transform,
    judge=_judge_ragged_transform,
    init=_init,
    description="Where the k largest scores of every row are in a ragged batch.",
)
