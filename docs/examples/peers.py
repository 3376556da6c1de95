"""The same decoding step by other libraries: torch, torch.compile and FlashInfer, timed together."""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import torch
from decoder import PAGE, Decoder, Decoding, Kernels, Request, Step
from llama import Layer, Shape, Weights
from torch.nn import functional


class FlashInferKernels(Kernels):
    """FlashInfer's functions and torch's products; halves of `gate_up` come one after the other."""

    def __init__(self) -> None:
        import flashinfer

        self.library = flashinfer
        self._halves: dict[int, torch.Tensor] = {}

    def linear(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return functional.linear(x, weight)

    def gated(self, x: torch.Tensor, layer: Layer) -> torch.Tensor:
        halves = self._halves.get(id(layer))
        if halves is None:
            halves = layer.gate_up.unflatten(0, (-1, 2)).transpose(0, 1).flatten(0, 1).contiguous()
            self._halves[id(layer)] = halves
        return self.library.silu_and_mul(functional.linear(x, halves))

    def sample(self, logits: torch.Tensor, step: Step) -> torch.Tensor:
        if step.top_k == 1:  # as engines do, where nothing is drawn
            return logits.argmax(-1).int()
        return self.library.sampling.top_k_top_p_sampling_from_logits(
            logits, step.top_k, step.top_p, seed=step.seed, offset=step.offset
        )


class NoPlan:
    """A wrapper without a plan, for attention that needs none."""

    def __init__(self, *_: object, **__: object) -> None: ...

    def plan(self, *_: object, **__: object) -> None: ...


class TorchKernels(Kernels):
    """torch's functions over a contiguous cache: every request has room for as many tokens."""

    class library:  # noqa: N801  # read as a module
        CUDAGraphBatchDecodeWithPagedKVCacheWrapper = NoPlan
        BatchPrefillWithPagedKVCacheWrapper = NoPlan

    def __init__(self, batch: int, length: int) -> None:
        """`length`: keys that the compared step sees."""
        self.batch, self.length = batch, length

    def cache(self, paged: tuple[int, ...]) -> tuple[int, ...]:
        pages, _, _, kv_heads, dim = paged
        return (2, self.batch, kv_heads, pages // self.batch * PAGE, dim)

    def linear(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return functional.linear(x, weight)

    def gated(self, x: torch.Tensor, layer: Layer) -> torch.Tensor:
        gate, up = functional.linear(x, layer.gate_up).unflatten(-1, (-1, 2)).unbind(-1)
        return functional.silu(gate) * up

    def norm(self, x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        return functional.rms_norm(x, weight.shape, weight, eps)

    def add_norm(
        self, x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float
    ) -> torch.Tensor:
        return functional.rms_norm(residual.add_(x), weight.shape, weight, eps)

    def rotate(self, q: torch.Tensor, k: torch.Tensor, step: Step, shape: Shape) -> None:
        cos, sin = rotation(step.positions, shape)
        for x in (q, k):
            first, second = x.float().chunk(2, -1)
            x.copy_(torch.cat((first * cos - second * sin, second * cos + first * sin), -1))

    def append(self, k: torch.Tensor, v: torch.Tensor, cache: torch.Tensor, step: Step) -> None:
        for side, new in zip(cache, (k, v), strict=True):
            side[step.requests.long(), :, step.positions.long()] = new

    def attend(self, q: torch.Tensor, cache: torch.Tensor, step: Step) -> torch.Tensor:
        keys, values = cache[..., : self.length, :]
        return functional.scaled_dot_product_attention(
            q[:, :, None], keys, values, enable_gqa=True
        )[:, :, 0]

    def sample(self, logits: torch.Tensor, step: Step) -> torch.Tensor:
        if step.top_k == 1:
            return logits.argmax(-1).int()
        most = logits.float().topk(step.top_k)
        weights = most.values.softmax(-1)
        weights = weights.where(weights.cumsum(-1) - weights < step.top_p, 0.0)
        drawn = torch.multinomial(weights, 1)
        return most.indices.gather(-1, drawn)[:, 0].int()


def rotation(positions: torch.Tensor, shape: Shape) -> tuple[torch.Tensor, torch.Tensor]:
    """Return cosines and sines, (tokens, 1, dim / 2), with Llama 3.1's frequencies if it has them."""
    at = torch.arange(0, shape.dim, 2, device=positions.device) / shape.dim
    frequencies = shape.theta**-at
    if shape.scaling:
        low, high = (shape.scaling[f"{name}_freq_factor"] for name in ("low", "high"))
        turns = shape.scaling["old_context_len"] * frequencies / (2 * torch.pi)
        smooth = ((turns - low) / (high - low)).clamp(0, 1)
        frequencies *= smooth + (1 - smooth) / shape.scaling["rope_scale"]
    angles = positions[:, None, None] * frequencies
    return angles.cos(), angles.sin()


class CompiledDecoder(Decoder):
    """The same, through torch.compile."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._compiled = torch.compile(super().__call__, mode="max-autotune-no-cudagraphs")

    def __call__(self, step: Step) -> torch.Tensor:
        return self._compiled(step)


def step_of(name: str, shape: Shape, weights: Weights, batch: int, context: int) -> Decoding:
    """Return the decoding step of `batch` requests that have `context` keys each."""
    pages = -(-(context + 1) // PAGE)
    kernels: Kernels = Kernels()
    if name in ("torch", "compile"):
        kernels = TorchKernels(batch, context)
    elif name == "flashinfer":
        kernels = FlashInferKernels()
    make = CompiledDecoder if name == "compile" else Decoder
    decoder = make(shape, weights, batch * pages, kernels)
    workspace = torch.empty(256 << 20, dtype=torch.uint8, device=decoder.device)
    step = Decoding(decoder, batch, workspace)
    step.prepare(same_requests(batch, context, pages))
    step.launch()
    return step


def same_requests(batch: int, context: int, pages: int) -> list[Request]:
    """Return requests whose next step has `context` keys, one after the other in the cache."""
    prompt = [1] * context
    return [
        Request(prompt, 1, pages=list(range(at * pages, (at + 1) * pages))) for at in range(batch)
    ]


def compare(options: argparse.Namespace, shape: Shape, weights: Weights) -> list[dict[str, Any]]:
    """Time a decoding step of each side, in the same rounds, for each size of the batch."""
    from fictl.timing.measure import measure
    from fictl.timing.side import Side

    rows = []
    for batch in options.batch:
        sides, host = {}, {}
        for name in ("fictl", *options.compare):
            step = step_of(name, shape, weights, batch, options.context)
            host[name] = host_seconds(step, options.context)
            sides[name] = Side(lambda _, step=step: step.launch, 1 << 30)
        seconds = {name: samples.median for name, samples in measure(sides, timer="events").items()}
        rows.append({"batch": batch, "context": options.context, "step": seconds, "host": host})
        for name, median in seconds.items():
            words = f"batch {batch:3} {name:10} {median * 1e3:8.3f} ms a step"
            words += f" {batch / median:9.0f} tokens/s, {host[name] * 1e6:6.0f} us of the host"
            print(f"{words}, {median / seconds['fictl']:.2f}x fictl's", file=sys.stderr)
        del sides, step
        torch.cuda.empty_cache()
    return rows


def host_seconds(step: Decoding, context: int, times: int = 20) -> float:
    """Return what a step takes the host: lists, plan and launch, without a wait for the GPU."""
    requests = same_requests(step.batch, context, -(-(context + 1) // PAGE))
    spans = []
    for _ in range(times):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        step.prepare(requests)
        step.launch()
        spans.append(time.perf_counter() - begin)
    torch.cuda.synchronize()
    return sorted(spans)[times // 2]


def profile(options: argparse.Namespace, shape: Shape, weights: Weights) -> list[dict[str, Any]]:
    """Show which kernel takes which share of a step."""
    from fictl.profile import profile_kernel

    rows = []
    for batch in options.batch:
        step = step_of("fictl", shape, weights, batch, options.context)
        with profile_kernel(f"step-{batch}x{options.context}") as recorded:
            step.launch()
        print(recorded, file=sys.stderr)
        rows.append(recorded.to_dict())
    return rows
