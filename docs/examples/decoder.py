"""A Llama-shaped decoder of fictl's ops over a paged cache, and its decoding step as a CUDA graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from llama import DTYPE, Layer, Shape, Weights
from torch.nn import functional

from fictl import ops

PAGE = 16


class Kernels:
    """The functions of a decoder: fictl's ops or, to compare, others of the same names."""

    library: Any = ops

    def cache(self, paged: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of a layer's cache, of as many tokens as `paged` has room for."""
        return paged

    def linear(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return ops.dense(x, weight)

    def gated(self, x: torch.Tensor, layer: Layer) -> torch.Tensor:
        """silu(gate) * up, in the epilogue of their product."""
        return ops.dense(x, layer.gate_up, activation="swiglu")

    def norm(self, x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        return self.library.rmsnorm(x, weight, eps)

    def add_norm(
        self, x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float
    ) -> torch.Tensor:
        self.library.fused_add_rmsnorm(x, residual, weight, eps)
        return x

    def rotate(self, q: torch.Tensor, k: torch.Tensor, step: Step, shape: Shape) -> None:
        if shape.scaling:
            rotate, numbers = self.library.apply_llama31_rope_pos_ids_inplace, shape.scaling
        else:
            rotate, numbers = self.library.apply_rope_pos_ids_inplace, {}
        rotate(q, k, step.positions, rope_theta=shape.theta, **numbers)

    def append(self, k: torch.Tensor, v: torch.Tensor, cache: torch.Tensor, step: Step) -> None:
        table = (step.indices, step.indptr, step.last_page_len)
        self.library.append_paged_kv_cache(k, v, step.requests, step.positions, cache, *table)

    def attend(self, q: torch.Tensor, cache: torch.Tensor, step: Step) -> torch.Tensor:
        return step.attention.run(q, cache)

    def sample(self, logits: torch.Tensor, step: Step) -> torch.Tensor:
        return self.library.top_k_top_p_sampling_from_logits(
            logits, step.top_k, step.top_p, seed=step.seed, offset=step.offset
        )


@dataclass
class Step:
    """Tokens that go through the model together, and where their keys are."""

    tokens: torch.Tensor
    positions: torch.Tensor
    requests: torch.Tensor  # of each token; -1 is padding
    indptr: torch.Tensor
    indices: torch.Tensor
    last_page_len: torch.Tensor
    attention: Any
    last: torch.Tensor | None = None  # of the tokens, the last one of each request; None: all
    top_k: int = 1
    top_p: float = 1.0
    seed: Any = 0
    offset: Any = 0


class Decoder:
    """The model. `caches`: keys and values of each layer, (pages, 2, PAGE, kv_heads, dim)."""

    def __init__(
        self, shape: Shape, weights: Weights, pages: int, kernels: Kernels | None = None
    ) -> None:
        self.shape, self.weights, self.kernels = shape, weights, kernels or Kernels()
        self.device = weights.norm.device
        room = (pages, 2, PAGE, shape.kv_heads, shape.dim)
        self.caches = [
            torch.zeros(self.kernels.cache(room), dtype=DTYPE, device=self.device)
            for _ in range(shape.layers)
        ]

    def __call__(self, step: Step) -> torch.Tensor:
        """Return the logits of each request's next token."""
        kernels, shape, weights = self.kernels, self.shape, self.weights
        residual = functional.embedding(step.tokens, weights.embedding)
        x = kernels.norm(residual, weights.layers[0].attention_norm, shape.eps)
        after = [layer.attention_norm for layer in weights.layers[1:]] + [weights.norm]
        for layer, cache, norm in zip(weights.layers, self.caches, after, strict=True):
            x = kernels.linear(self._attend(x, layer, cache, step), layer.o)
            x = kernels.add_norm(x, residual, layer.ffn_norm, shape.eps)
            x = kernels.linear(kernels.gated(x, layer), layer.down)
            x = kernels.add_norm(x, residual, norm, shape.eps)
        return kernels.linear(x if step.last is None else x[step.last], weights.head)

    def _attend(
        self, x: torch.Tensor, layer: Layer, cache: torch.Tensor, step: Step
    ) -> torch.Tensor:
        kernels, shape = self.kernels, self.shape
        heads = kernels.linear(x, layer.qkv).view(len(x), -1, shape.dim)
        q, k, v = heads.split((shape.heads, shape.kv_heads, shape.kv_heads), 1)
        kernels.rotate(q, k, step, shape)
        kernels.append(k, v, cache, step)
        return kernels.attend(q, cache, step).flatten(1)


@dataclass
class Request:
    prompt: list[int]
    most: int  # new tokens
    out: list[int] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)

    @property
    def length(self) -> int:
        """Tokens whose keys are in the cache once the next step is done."""
        return len(self.prompt) + len(self.out)


def used_pages(requests: Sequence[Request]) -> tuple[list[int], list[int], list[int]]:
    """Return (indptr, indices, last_page_len) of the requests, a step with their newest tokens."""
    indptr, indices, last = [0], [], []
    for request in requests:
        pages = -(-request.length // PAGE)
        indices += request.pages[:pages]
        indptr.append(len(indices))
        last.append(request.length - (pages - 1) * PAGE if pages else 0)
    return indptr, indices, last


def int32(values: Sequence[int], device: Any = "cpu") -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int32, device=device)


class Decoding:
    """A step of one new token for each of up to `batch` requests; a CUDA graph on a GPU.

    All its tensors stay where they are: a step writes them, plans, and replays.
    """

    def __init__(
        self, decoder: Decoder, batch: int, workspace: torch.Tensor, **sampling: Any
    ) -> None:
        device, kernels = decoder.device, decoder.kernels
        self.decoder, self.batch = decoder, batch
        pages = len(decoder.caches[0])
        table = [int32([0] * count, device) for count in (batch + 1, pages, batch)]
        wrapper = kernels.library.CUDAGraphBatchDecodeWithPagedKVCacheWrapper
        random = [torch.zeros(1, dtype=torch.int64, device=device) for _ in range(2)]
        self.step = Step(
            *(int32([0] * batch, device), int32([0] * batch, device), int32([-1] * batch, device)),
            *(*table, wrapper(workspace, *table, use_tensor_cores=True)),
            seed=random[0],
            offset=random[1],
            **sampling,
        )
        self.out = int32([0] * batch, device)
        self.graph: torch.cuda.CUDAGraph | None = None

    def prepare(self, requests: Sequence[Request]) -> None:
        """Write what the step reads; what is beyond the requests is padding."""
        step, padding = self.step, self.batch - len(requests)
        indptr, indices, last = used_pages(requests)
        self.plan(indptr + [indptr[-1]] * padding, indices, last + [0] * padding)
        tokens = [(request.out or request.prompt)[-1] for request in requests]
        positions = [request.length - 1 for request in requests]
        numbers = [tokens, positions, list(range(len(requests)))]
        lines = int32(
            [line + [fill] * padding for line, fill in zip(numbers, (0, 0, -1), strict=True)]
        )
        for place, line in zip((step.tokens, step.positions, step.requests), lines, strict=True):
            place.copy_(line, non_blocking=True)

    def plan(self, indptr: list[int], indices: list[int], last: list[int]) -> None:
        shape, table = self.decoder.shape, (int32(indptr), int32(indices), int32(last))
        heads = (shape.heads, shape.kv_heads, shape.dim, PAGE)
        self.step.attention.plan(*table, *heads, q_data_type=DTYPE, kv_data_type=DTYPE)

    def launch(self) -> None:
        """Compute the step, from a graph after the second one: the first compiles what is missing."""
        if self.graph is not None:
            self.graph.replay()
            return
        self._compute()
        if self.decoder.device.type == "cuda":
            torch.cuda.synchronize()
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self._compute()

    def _compute(self) -> None:
        self.step.offset.add_(self.batch * 64)
        self.out.copy_(self.decoder.kernels.sample(self.decoder(self.step), self.step))
