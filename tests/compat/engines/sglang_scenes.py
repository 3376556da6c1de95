"""Scenes of SGLang: its backend's calls for models of these sizes, without their layers."""

from __future__ import annotations

import unittest
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module, metadata
from typing import Any

import torch

from .scene import Scene
from .sglang_backend import install, kit

_BACKEND = "sglang.srt.layers.attention.flashinfer_backend"


@dataclass(frozen=True)
class Size:
    """Heads of a model, and how long its requests are: (cached, new) tokens."""

    heads: int
    kv_heads: int
    dim: int
    decode: tuple[int, ...]
    prefix: tuple[int, ...]
    extend: tuple[int, ...]
    context: int


# Llama 3 8B; the same with few heads, for the emulated device.
LARGE = Size(32, 8, 128, (1, 77, 1023, 512), (0, 300, 512), (128, 200, 1), 1100)
# Qwen3 32B: its norms of queries and keys are kernels of SGLang's own, and reach no name of FlashInfer.
QWEN3 = Size(64, 8, 128, (900, 3), (), (), 1000)
SMALL = Size(4, 2, 64, (1, 17, 30), (0, 9, 16), (3, 7, 1), 40)
TOPK_DRAFTS = 3


def scenes() -> Iterator[tuple[str, Callable[[], Scene]]]:
    """Yield names and what records them."""
    install()
    for word, size in (("", LARGE), ("_small", SMALL)):
        yield f"prefill_cascade{word}", lambda s=size, w=word: _prefill(s, w, torch.bfloat16)
        yield f"decode{word}", lambda s=size, w=word: _decode(s, w, torch.bfloat16)
        yield f"decode_graph{word}", lambda s=size, w=word: _graph(s, w)
        yield f"eagle_verify{word}", lambda s=size, w=word: _verify(s, w)
    yield "prefill_cascade_fp8_kv", lambda: _prefill(LARGE, "_fp8_kv", torch.float8_e4m3fn)
    yield "decode_fp8_kv", lambda: _decode(LARGE, "_fp8_kv", torch.float8_e4m3fn)
    yield "decode_window", lambda: _decode(LARGE, "_window", torch.bfloat16, window=127)
    yield "qwen3_decode", lambda: _decode(QWEN3, "", torch.bfloat16, name="qwen3_decode")


def _scene(name: str) -> Scene:
    backend = import_module(_BACKEND)
    functions = [
        ("flashinfer.fast_decode_plan", "fast_decode_plan", backend),
        ("flashinfer.cascade.merge_state", "merge_state", backend),
    ]
    return Scene(f"sglang {metadata.version('sglang')}", name, functions)


def _case(size: Size, mode: str, prefix: tuple[int, ...], new: tuple[int, ...], window: Any) -> Any:
    dense = kit("attention_methods.dense_attention")
    modes = dense.ForwardMode
    return dense.DenseAttentionCase(
        mode, "flashinfer", modes[mode], size.heads, size.kv_heads, 1, prefix, new, window
    )


def _fixture(size: Size, case: Any, kv: torch.dtype, **options: Any) -> Any:
    dense = kit("attention_methods.dense_attention")

    class Runner(dense.MockModelRunner):  # type: ignore[misc,name-defined]
        def __init__(self, **words: Any) -> None:
            super().__init__(**words)
            if kv != words["dtype"]:
                self.kv_cache_dtype = kv
                pool = self.token_to_kv_pool
                self.token_to_kv_pool = dense.MHATokenToKVPool(
                    size=pool.size,
                    page_size=case.page_size,
                    dtype=kv,
                    head_num=case.num_kv_heads,
                    head_dim=size.dim,
                    layer_num=1,
                    device="cuda",
                    enable_memory_saver=False,
                    enable_alt_stream=False,
                )
                self.init_kv_index_translator()

    plain, dense.MockModelRunner = dense.MockModelRunner, Runner
    try:
        fixture = dense.build_dense_attention_fixture(
            unittest.TestCase(),
            case,
            head_dim=size.dim,
            max_context_len=size.context,
            dtype=torch.bfloat16,
            device="cuda",
            **options,
        )
    finally:
        dense.MockModelRunner = plain
    if kv.itemsize == 1:
        fixture.actual_module.attn.k_scale_float = 0.5
        fixture.actual_module.attn.v_scale_float = 0.25
    return fixture


def _run(fixture: Any) -> None:
    kit("attention_methods.dense_attention").run_dense_fixture_eager(fixture)


def _prefill(size: Size, word: str, kv: torch.dtype) -> Scene:
    """New requests; then chunks whose prefix is in the cache: two attentions that are merged."""
    scene = _scene(f"prefill_cascade{word}")
    none = tuple(0 for _ in size.prefix)
    with scene.on():
        fixture = _fixture(size, _case(size, "EXTEND", none, size.extend, None), kv)
        _run(fixture)
        _run(_fixture(size, _case(size, "EXTEND", size.prefix, size.extend, None), kv))
    return scene


def _decode(
    size: Size, word: str, kv: torch.dtype, window: int | None = None, name: str = "decode"
) -> Scene:
    scene = _scene(f"{name}{word}")
    with scene.on():
        _run(_fixture(size, _case(size, "DECODE", size.decode, (), window), kv))
    return scene


def _graph(size: Size, word: str) -> Scene:
    """Capture for a batch, then replays with other lengths: plans go through fast_decode_plan."""
    dense = kit("attention_methods.dense_attention")
    graphs = kit("runner_modes.cuda_graph_decode_runner")
    scene = _scene(f"decode_graph{word}")
    count = len(size.decode) + 1
    with scene.on() as recorder:
        case = _case(size, "DECODE", size.decode, (), None)
        fixture = _fixture(
            size, case, torch.bfloat16, disable_cuda_graph=False, runner_batch_size=count
        )
        forward = dense.forward_context(dense.ForwardContext(attn_backend=fixture.backend))
        with forward:
            first = _batch(size, fixture, (0,) * count)
            graphs._init_cuda_graph_capture_metadata(fixture.backend, count, first)
            recorder.graph("decode", "capture")
            hidden = torch.randn(count, 64, dtype=torch.bfloat16, device="cuda")
            fixture.actual_module(hidden, first)
            recorder.graph("decode", "end")
            fixture.backend.on_after_cuda_graph_warmup()
            for lengths in (size.decode, tuple(n // 2 for n in size.decode)):
                batch = _batch(size, fixture, (*lengths, 0))
                graphs._init_cuda_graph_replay_metadata(fixture.backend, count, batch)
                recorder.graph("decode", "replay")
    return scene


def _batch(size: Size, fixture: Any, prefix: tuple[int, ...]) -> Any:
    dense = kit("attention_methods.dense_attention")
    case = _case(size, "DECODE", prefix, (), None)
    where = {"max_context_len": size.context, "device": "cuda"}
    return dense._make_forward_batch(case, fixture.runner, **where)


def _verify(size: Size, word: str) -> Scene:
    """Drafts in a tree: prefill with a mask, of as many queries for each request."""
    drafts = kit("runner_modes.speculative_target_verify_runner")
    scene = _scene(f"eagle_verify{word}")
    with scene.on():
        new = (TOPK_DRAFTS,) * len(size.prefix)
        prefix = tuple(n + 1 for n in size.prefix)
        case = _case(size, "TARGET_VERIFY", prefix, new, None)
        fixture = _fixture(size, case, torch.bfloat16)
        drafts._prepare_target_verify_batch(fixture.forward_batch, case, "cuda")
        fixture.forward_batch.spec_info = drafts._make_spec_verify_input(
            case, fixture.forward_batch, topk=2, device="cuda", spec_kind="eagle"
        )
        _run(fixture)
    return scene
