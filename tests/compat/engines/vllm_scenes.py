"""Scenes of vLLM: its FlashInfer backend's builder and layer, without a model and without its modules.

The configuration is a stand-in with the fields that these files read, and the platform a Hopper GPU.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module, metadata
from itertools import accumulate
from types import ModuleType, SimpleNamespace
from typing import Any

import torch

from .scene import Scene

_BACKEND = "vllm.v1.attention.backends.flashinfer"
_COMPILED = ("_C", "_C_stable_libtorch", "_moe_C", "_moe_C_stable_libtorch")
_PAGES = 520


@dataclass(frozen=True)
class Model:
    """A model's attention, and how vLLM is switched: `functions` are what it calls for decoding."""

    heads: int = 32
    kv_heads: int = 8
    dim: int = 128
    cache: str = "auto"
    window: int | None = None
    sinks: bool = False
    drafts: int = 0
    functions: bool | None = None
    graphs: bool = False
    requests: int = 4
    pages: int = _PAGES
    page: int = 16


@dataclass(frozen=True)
class Batch:
    """Requests of a step: (new tokens, tokens with those); decoding ones come first."""

    requests: tuple[tuple[int, int], ...]


LLAMA, GPT_OSS = Model(), Model(heads=64, kv_heads=8, dim=64, sinks=True)
_FEW = {"heads": 4, "kv_heads": 2, "dim": 64, "pages": 24}
CHUNKS = Batch(((1, 300), (1, 1023), (128, 128), (256, 700)))
SMALL_CHUNKS = Batch(((1, 30), (1, 17), (5, 5), (4, 21)))
DECODES = (Batch(((1, 1), (1, 77), (1, 1023), (1, 512))),)
# Of caches whose slots are all written by FlashInfer's function.
FROM_THE_START = (
    Batch(((96, 96), (33, 33), (200, 200))),
    Batch(((1, 97), (1, 34), (1, 201))),
)
SMALL_DECODES = (Batch(((1, 1), (1, 17), (1, 40))),)


def scenes() -> Iterator[tuple[str, Callable[[], Scene]]]:
    """Yield names and what records them."""
    _install()
    native = replace(LLAMA, functions=False)
    fp8 = replace(LLAMA, cache="fp8")
    drafts = (Batch(((4, 100), (4, 900), (4, 33))), Batch(((1, 100), (4, 905), (2, 40))))
    plain = replace(native, graphs=True)
    replays = (DECODES[0], Batch(((1, 5), (1, 300), (1, 16))), Batch(((1, 64),)))
    of_models = {
        "llama_chunked_prefill": (native, (CHUNKS,)),
        "llama_decode": (native, DECODES),
        "llama_decode_graph": (plain, replays),
        "llama_by_functions": (LLAMA, (CHUNKS, *DECODES)),
        "llama_fp8_kv": (fp8, (CHUNKS, *DECODES)),
        "gpt_oss_full": (GPT_OSS, (CHUNKS, *DECODES)),
        "gpt_oss_window": (replace(GPT_OSS, window=128), (CHUNKS, *DECODES)),
        "drafts": (replace(LLAMA, drafts=3), drafts),
        "drafts_fp8_kv": (replace(fp8, drafts=3), drafts),
        "nvfp4_kv": (replace(native, cache="nvfp4"), FROM_THE_START),
        "llama_chunked_prefill_small": (replace(native, **_FEW), (SMALL_CHUNKS,)),
        "llama_decode_graph_small": (
            replace(plain, **_FEW, requests=3),
            (SMALL_DECODES[0], Batch(((1, 33), (1, 2)))),
        ),
        "gpt_oss_window_small": (
            replace(GPT_OSS, **_FEW, window=8),
            (SMALL_CHUNKS, *SMALL_DECODES),
        ),
        "drafts_small": (replace(LLAMA, **_FEW, drafts=3), (Batch(((4, 20), (2, 9), (1, 3))),)),
    }
    for name, (model, batches) in of_models.items():
        yield name, lambda n=name, m=model, b=batches: _record(n, m, b)  # type: ignore[misc]


def _install() -> None:
    os.environ.setdefault("VLLM_HAS_FLASHINFER_CUBIN", "1")
    for name in _COMPILED:
        sys.modules[f"vllm.{name}"] = ModuleType(f"vllm.{name}")
    import fictl.compat.flashinfer as names

    sys.modules["flashinfer"] = names
    from vllm import platforms
    from vllm.platforms.cuda import CudaPlatformBase
    from vllm.platforms.interface import DeviceCapability

    class Hopper(CudaPlatformBase):  # type: ignore[misc]
        @classmethod
        def get_device_capability(cls, device_id: int = 0) -> Any:
            return DeviceCapability(9, 0)

    platforms._current_platform = Hopper()


def _record(name: str, model: Model, batches: Sequence[Batch]) -> Scene:
    backend = import_module(_BACKEND)
    tools = import_module("vllm.utils.flashinfer")
    words = (
        ("flashinfer.decode", "fast_decode_plan", backend),
        ("flashinfer.decode", "trtllm_batch_decode_with_kv_cache", backend),
        ("flashinfer.prefill", "trtllm_batch_context_with_kv_cache", backend),
        ("flashinfer", "nvfp4_quantize_append_paged_kv_cache_with_slot_mapping", backend),
    )
    functions = [(f"{module}.{word}", word, place) for module, word, place in words]
    xqa = "flashinfer_xqa_batch_decode_with_kv_cache"
    functions.append(("flashinfer.decode.xqa_batch_decode_with_kv_cache", xqa, backend))
    scene = Scene(f"vllm {metadata.version('vllm')}", name, functions)
    config = _config(model)
    with _as(config, tools, backend), scene.on() as recorder:
        engine = _Engine(model, config, backend)
        for at, batch in enumerate(batches):
            if not model.graphs:
                engine.step(batch)
            elif at == 0:
                engine.step(batch, lambda event: recorder.graph("decode", event))
            else:
                engine.build(batch)
                recorder.graph("decode", "replay")
    return scene


@contextmanager
def _as(config: Any, tools: Any, backend: Any) -> Iterator[None]:
    """Let vLLM's functions find this configuration, and no kernels of its own."""
    from vllm.config import vllm as module

    known = module._current_vllm_config
    module._current_vllm_config = config
    tools.supports_trtllm_attention.cache_clear()
    backend.custom_ops = SimpleNamespace(scaled_fp8_quant=_quantised)
    backend.get_device_sm_count = lambda _: 132
    backend.trtllm_workspace_buffer = None
    backend._copy_page_indices_kernel = _CopyPages()
    try:
        yield
    finally:
        module._current_vllm_config = known


class _CopyPages:
    """vLLM's Triton kernel that writes the pages of requests one after the other."""

    def __getitem__(self, grid: tuple[int]) -> Callable[..., None]:
        return lambda *words, **_: self._copy(grid[0], *words)

    def _copy(self, count: int, pages: Any, table: Any, stride: int, begins: Any) -> None:
        ends = begins.tolist()
        for i in range(count):
            pages[ends[i] : ends[i + 1]] = table[i, : ends[i + 1] - ends[i]]


def _quantised(tensor: torch.Tensor, scale: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return (tensor.float() / scale).to(torch.float8_e4m3fn), scale


def _config(model: Model) -> Any:
    from vllm.config import CUDAGraphMode
    from vllm.v1.kv_cache_interface import KVCacheLayout

    mode = CUDAGraphMode.FULL_DECODE_ONLY if model.graphs else CUDAGraphMode.NONE
    speculative = SimpleNamespace(
        num_speculative_tokens=model.drafts,
        enable_adaptive_verification=False,
        parallel_drafting=False,
    )
    return SimpleNamespace(
        num_speculative_tokens=model.drafts,
        cache_config=SimpleNamespace(
            cache_dtype=model.cache, get_resolved_kv_cache_layout=lambda: KVCacheLayout.LBNHC
        ),
        model_config=SimpleNamespace(
            max_model_len=model.pages * model.page // 2,
            dtype=torch.bfloat16,
            get_num_attention_heads=lambda _: model.heads,
            get_num_kv_heads=lambda _: model.kv_heads,
        ),
        attention_config=SimpleNamespace(
            disable_flashinfer_q_quantization=False,
            use_trtllm_attention=model.functions,
            use_non_causal=False,
        ),
        compilation_config=SimpleNamespace(
            cudagraph_mode=mode,
            max_cudagraph_capture_size=model.requests,
            static_forward_context={},
        ),
        scheduler_config=SimpleNamespace(max_num_batched_tokens=1024, max_num_seqs=model.requests),
        speculative_config=speculative if model.drafts else None,
        parallel_config=SimpleNamespace(
            cp_kv_cache_interleave_size=1, dcp_comm_backend="", decode_context_parallel_size=1
        ),
    )


class _Engine:
    """One layer's backend, its cache, and the buffers of a step that live on."""

    def __init__(self, model: Model, config: Any, backend: Any) -> None:
        from vllm.v1.kv_cache_interface import FullAttentionSpec, get_kv_quant_mode

        self.model, self._backend = model, backend
        sinks = torch.randn(model.heads, device="cuda") if model.sinks else None
        self._impl = backend.FlashInferImpl(
            model.heads,
            model.dim,
            model.dim**-0.5,
            model.kv_heads,
            None,
            model.window,
            model.cache,
            sinks=sinks,
        )
        self._impl.dcp_world_size, self._impl.need_to_return_lse_for_decode = 1, False
        factors = (
            {"q": 0.5, "k": 0.5, "v": 0.25} if model.cache != "auto" else dict.fromkeys("qkv", 1.0)
        )
        self._layer: Any = SimpleNamespace(impl=self._impl, _o_scale_float=None)
        for name, factor in factors.items():
            setattr(self._layer, f"_{name}_scale", torch.full((1,), factor, device="cuda"))
            setattr(self._layer, f"_{name}_scale_float", factor)
        stored = torch.bfloat16 if model.cache == "auto" else torch.uint8
        spec = FullAttentionSpec(
            block_size=model.page,
            num_kv_heads=model.kv_heads,
            head_size=model.dim,
            dtype=stored,
            kv_quant_mode=get_kv_quant_mode(model.cache),
        )
        spec = backend.FlashInferBackend.customize_spec(spec)
        with _layers(self._layer):
            self._builder = backend.FlashInferMetadataBuilder(
                spec, ["layer"], config, torch.device("cuda")
            )
        self._cache = self._made_cache(spec)
        self._tables = torch.zeros(
            model.requests, model.pages // 2, dtype=torch.int32, device="cuda"
        )
        self._seq_lens = torch.zeros(model.requests, dtype=torch.int32, device="cuda")
        width = (model.heads + 2 * model.kv_heads) * model.dim
        self._qkv = torch.zeros(1024, width, dtype=torch.bfloat16, device="cuda")
        self._out = torch.zeros(1024, model.heads, model.dim, dtype=torch.bfloat16, device="cuda")

    def _made_cache(self, spec: Any) -> torch.Tensor:
        """Return the cache as vLLM's layers see it, (pages, heads, slots, content), of layout NHD."""
        size = spec.state_content_size_bytes // spec.dtype.itemsize
        shape = (self.model.pages, self.model.page, spec.num_heads, size)
        return torch.zeros(shape, dtype=spec.dtype, device="cuda").transpose(1, 2)

    def build(self, batch: Batch) -> Any:
        from vllm.v1.attention.backend import CommonAttentionMetadata

        model = self.model
        requests = [*batch.requests]
        if model.graphs:  # A batch is padded to the captured one by requests without tokens.
            requests += [(1, 0)] * (model.requests - len(requests))
        count = len(requests)
        begins = torch.tensor([0, *accumulate(new for new, _ in requests)], dtype=torch.int32)
        lengths = torch.tensor([length for _, length in requests], dtype=torch.int32)
        self._fill_tables([length for _, length in requests])
        self._seq_lens[:count].copy_(lengths)
        return self._builder.build(
            0,
            CommonAttentionMetadata(
                query_start_loc=begins.to("cuda"),
                query_start_loc_cpu=begins,
                seq_lens=self._seq_lens[:count],
                num_reqs=count,
                num_actual_tokens=int(begins[-1]),
                max_query_len=max(new for new, _ in requests),
                max_seq_len=max(length for _, length in requests),
                block_table_tensor=self._tables[:count],
                slot_mapping=self._slots(batch.requests),
                seq_lens_cpu_upper_bound=lengths,
            ),
        )

    def _fill_tables(self, lengths: Sequence[int]) -> None:
        """Give each request pages that are not in order; page 0 is no request's."""
        others = self.model.pages - 1
        most = others // self.model.requests
        for i, length in enumerate(lengths):
            pages = [1 + 7 * (i * most + j) % others for j in range(-(-length // self.model.page))]
            self._tables[i, : len(pages)] = torch.tensor(pages, dtype=torch.int32)

    def _slots(self, requests: Sequence[tuple[int, int]]) -> torch.Tensor:
        """Return where the new tokens of requests are written."""
        page, slots = self.model.page, list[int]()
        for i, (new, length) in enumerate(requests):
            of_pages = self._tables[i].tolist()
            slots += [of_pages[n // page] * page + n % page for n in range(length - new, length)]
        return torch.tensor(slots, dtype=torch.int64, device="cuda")

    def step(self, batch: Batch, graph: Callable[[str], None] | None = None) -> None:
        """Build and run the layer; `graph` is told when capture begins and ends."""
        built = self.build(batch)
        tokens = built.num_actual_tokens
        model = self.model
        sizes = [model.heads, model.kv_heads, model.kv_heads]
        q, k, v = (
            x.unflatten(-1, (-1, model.dim))
            for x in self._qkv[:tokens].split([n * model.dim for n in sizes], -1)
        )
        if model.cache == "nvfp4":
            self._impl.do_kv_cache_update(self._layer, k, v, self._cache, built.slot_mapping)
        if graph:
            graph("capture")
        self._impl.forward(self._layer, q, k, v, self._cache, built, self._out[:tokens])
        if graph:
            graph("end")


@contextmanager
def _layers(layer: Any) -> Iterator[None]:
    """Let vLLM find this layer by name."""
    utils = import_module("vllm.v1.attention.backends.utils")
    known = utils.get_layers_from_vllm_config
    utils.get_layers_from_vllm_config = lambda *_: {"layer": layer}
    try:
        yield
    finally:
        utils.get_layers_from_vllm_config = known
