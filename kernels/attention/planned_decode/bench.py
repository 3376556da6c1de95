"""Steps of decoding as engines call them: 8-bit keys of one long request, short ones, windows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.trace import Case

from .._trace.of_tables import zeros

_PAGE = 16
# requests, keys of each, heads of queries, of keys and values, dim
_OF_8_BITS = (
    *((1, length << 10, 32, 8, 128) for length in (1, 2, 4, 8, 16, 32)),
    (8, 1024, 32, 8, 128),
    (64, 8192, 32, 8, 128),
)
_OF_16_BITS = ((1, 8192, 32, 8, 128), (64, 1024, 32, 8, 128))
# gpt-oss: every second layer sees 128 keys.
_GPT_OSS = ((1, 8192, 64, 8, 64), (64, 8192, 64, 8, 64))


def cases() -> Iterator[Case]:
    trtllm, batch = "trtllm_batch_decode_with_kv_cache", "xqa_batch_decode_with_kv_cache"
    yield _case(trtllm, 3, 40, 4, 2, 64, beyond=5)
    yield _case(batch, 3, 40, 4, 2, 64, beyond=5)
    yield _case("xqa", 2, 40, 4, 2, 64, beyond=5)
    yield _case("cudnn_batch_decode_with_kv_cache", 2, 40, 4, 2, 64, beyond=5)
    for sizes in _OF_8_BITS:
        yield _case(batch, *sizes)
    # Why 1: FlashInfer divides the scale of scores by that of values for its XQA, whose results with
    # a cache of 16 bits were right for 1, and wrong for 0.5.
    for sizes in _OF_16_BITS:
        yield _case(trtllm, *sizes, bmm2_scale=1.0)
    for sizes in _GPT_OSS:
        yield _case(trtllm, *sizes, passing=("sinks",), window_left=127, bmm2_scale=1.0)


def _case(
    function: str,
    requests: int,
    length: int,
    heads: int,
    kv_heads: int,
    dim: int,
    beyond: int = 0,
    passing: tuple[str, ...] = (),
    **scalars: float,
) -> Case:
    most = -(-length // _PAGE)
    sizes = {
        "requests": requests,
        "pages": requests * most + beyond,
        "most_pages": most,
        "page_size": _PAGE,
        "num_qo_heads": heads,
        "num_kv_heads": kv_heads,
        "head_dim": dim,
    }
    if function == "xqa":
        scalars = {"num_kv_heads": kv_heads, "page_size": _PAGE, **scalars}
    return Case(function, sizes, "bfloat16", passing=passing, scalars=scalars)


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    """Name what to compare with: XQA by the same name, and the paged wrapper, planned before."""
    if function == "trtllm_batch_decode_with_kv_cache":
        return {"flashinfer": _trtllm, "fictl-wrapper": _wrapper_hnd}
    if function == "xqa_batch_decode_with_kv_cache":
        return {"flashinfer": _batch, "fictl-wrapper": _wrapper_nhd}
    return {"flashinfer": _xqa} if function == "xqa" else {}


def _trtllm(query: torch.Tensor, **inputs: Any) -> Callable[[], Any]:
    return _called("trtllm_batch_decode_with_kv_cache", query, **inputs)


def _batch(query: torch.Tensor, **inputs: Any) -> Callable[[], Any]:
    return _called("xqa_batch_decode_with_kv_cache", query, **inputs)


def _called(name: str, query: torch.Tensor, **inputs: Any) -> Callable[[], Any]:
    flashinfer: Any = import_module("flashinfer.decode")
    # A workspace of its own: that its counters are zeros is its own business.
    memory = torch.zeros(128 << 20, dtype=torch.uint8, device=query.device)
    run = getattr(flashinfer, name)
    given = {"query": query, **_without_no_pages(inputs)}
    return lambda: run(**given, workspace_buffer=memory)


def _xqa(**inputs: Any) -> Callable[[], Any]:
    flashinfer: Any = import_module("flashinfer")
    memory = torch.zeros(128 << 20, dtype=torch.uint8, device=inputs["q"].device)
    counters, parts = memory[: 8 << 20].view(torch.uint32), memory[8 << 20 :]
    given = {"output": torch.empty_like(inputs["q"]), **_without_no_pages(inputs)}
    output: torch.Tensor = given["output"]
    given["seq_lens"] = inputs["seq_lens"].view(torch.uint32).unsqueeze(1)

    def run() -> torch.Tensor:
        flashinfer.xqa(**given, workspace_buffer=parts, semaphores=counters)
        return output

    return run


def _without_no_pages(inputs: dict[str, Any]) -> dict[str, Any]:
    """Put pages of the cache where there are none: what is beyond a request's keys."""
    name = "page_table" if "page_table" in inputs else "block_tables"
    return {**inputs, name: inputs[name].clamp(min=0)}


def _wrapper_hnd(**inputs: Any) -> Callable[[], Any]:
    return _wrapper("HND", **inputs)


def _wrapper_nhd(**inputs: Any) -> Callable[[], Any]:
    return _wrapper("NHD", **inputs)


def _wrapper(
    layout: str,
    query: torch.Tensor,
    kv_cache: torch.Tensor,
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    max_seq_len: int,
    bmm1_scale: float,
    bmm2_scale: float,
    window_left: int,
    sinks: torch.Tensor | None = None,
) -> Callable[[], Any]:
    fictl: Any = import_module("fictl.ops")
    slots, heads = kv_cache.shape[2:4] if layout == "NHD" else kv_cache.shape[2:4][::-1]
    counts = (seq_lens + slots - 1) // slots
    indptr = torch.nn.functional.pad(counts.cumsum(0), (1, 0)).int()
    used = block_tables[torch.arange(block_tables.shape[1], device=query.device) < counts[:, None]]
    last = (seq_lens - (counts - 1) * slots).clamp(min=0)
    wrapper = fictl.BatchDecodeWithPagedKVCacheWrapper(zeros(query.device)[8 << 20 :], layout)
    wrapper.plan(
        indptr,
        used,
        last,
        query.shape[1],
        heads,
        query.shape[2],
        slots,
        window_left=window_left,
        q_data_type=query.dtype,
        kv_data_type=kv_cache.dtype,
        sm_scale=bmm1_scale,
    )
    return lambda: wrapper.run(query, kv_cache, v_scale=bmm2_scale, sinks=sinks)
