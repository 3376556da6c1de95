"""Prompts of models with latent attention, whose values are shorter than their keys, and others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from fictl.trace import Case

from .._trace.inputs import workspace

_RAGGED, _V2 = "trtllm_ragged_attention_deepseek", "trtllm_fmha_v2_prefill"


def cases() -> Iterator[Case]:
    yield _ragged(7, 3, 40, (4, 2), (64, 64))
    for requests, queries, keys in ((4, 4096, 4096), (1, 2048, 32768)):
        yield _ragged(requests * queries, requests, requests * keys, (128, 128), (192, 128))
    yield _packed(30, 3, 4, 64)
    yield _packed(16384, 4, 32, 128)


def _ragged(
    tokens: int, requests: int, keys: int, heads: tuple[int, int], dims: tuple[int, int]
) -> Case:
    sizes = {
        "tokens": tokens,
        "batch_size": requests,
        "keys": keys,
        "num_qo_heads": heads[0],
        "num_kv_heads": heads[1],
        "head_dim": dims[0],
        "head_dim_vo": dims[1],
    }
    return Case(_RAGGED, sizes, "bfloat16")


def _packed(tokens: int, requests: int, heads: int, dim: int) -> Case:
    sizes = {"tokens": tokens, "batch_size": requests, "num_heads": heads, "head_dim": dim}
    return Case(_V2, sizes, "bfloat16")


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    """Name what to compare with: a wrapper, planned before. FlashInfer's is for Blackwell."""
    if function != _RAGGED:
        return {}
    return {"flashinfer-wrapper": _flashinfer, "fictl-wrapper": _fictl}


def _flashinfer(**inputs: Any) -> Callable[[], Any]:
    flashinfer: Any = import_module("flashinfer")
    return _wrapped(flashinfer, **inputs)


def _fictl(**inputs: Any) -> Callable[[], Any]:
    fictl: Any = import_module("fictl.ops")
    return _wrapped(fictl, **inputs)


def _wrapped(library: Any, **inputs: Any) -> Callable[[], Any]:
    query, key, value = (inputs[name] for name in ("query", "key", "value"))
    wrapper = library.BatchPrefillWithRaggedKVCacheWrapper(workspace(query.device))
    wrapper.plan(
        inputs["cum_seq_lens_q"],
        inputs["cum_seq_lens_kv"],
        query.shape[1],
        key.shape[1],
        query.shape[2],
        value.shape[2],
        causal=inputs["is_causal"],
        sm_scale=inputs["bmm1_scale"],
        q_data_type=query.dtype,
        kv_data_type=key.dtype,
    )
    return lambda: wrapper.run(query, key, value)
