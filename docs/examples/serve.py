"""Serve a Llama-shaped decoder: paged cache, continuous batching, CUDA graphs and sampling.

Every operation of a step is one of fictl's. Without a GPU a tiny model runs on the emulated device:

    python serve.py                                    # Llama-3-8B's shape, random weights
    python serve.py --model Llama-3.1-8B --prompt "…"  # config.json and *.safetensors of a folder
    python serve.py --compare torch,compile,flashinfer --batch 1,16,64 --context 2048
    python serve.py --profile --batch 16               # which kernel takes which share of a step
    FICTL_DEVICE=emu python serve.py --shape tiny
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from decoder import PAGE, Decoder, Decoding, Request, Step, int32, used_pages
from llama import DTYPE, SHAPES, Shape, Weights, random_weights, read_model

from fictl.errors import FictlError
from fictl.settings import DEVICE


class Engine:
    """Continuous batching: a request joins as soon as there are pages for all of its tokens."""

    def __init__(
        self, decoder: Decoder, batch: int, ends: Sequence[int] = (), **sampling: Any
    ) -> None:
        self.decoder, self.batch, self.ends, self.sampling = decoder, batch, ends, sampling
        self.free = list(range(len(decoder.caches[0])))
        self.waiting: deque[Request] = deque()
        self.running: list[Request] = []
        self.workspace = torch.empty(128 << 20, dtype=torch.uint8, device=decoder.device)
        self.prefill = decoder.kernels.library.BatchPrefillWithPagedKVCacheWrapper(self.workspace)
        self.decodings: dict[int, Decoding] = {}
        self.prefilled = 0

    def add(self, prompt: list[int], most: int) -> Request:
        """Queue a prompt, which gets `most` new tokens, or fewer if one of `ends` comes."""
        request = Request(prompt, most)
        if not prompt or most < 1:
            raise FictlError(
                f"a prompt of {len(prompt)} tokens, to get {most}", "both are 1 or more"
            )
        if self._pages(request) > len(self.decoder.caches[0]):
            raise FictlError(
                f"{len(prompt)} and {most} tokens need {self._pages(request)} pages of {PAGE}; "
                f"the cache has {len(self.decoder.caches[0])}",
                "pass a larger --cache, or ask for fewer tokens",
            )
        self.waiting.append(request)
        return request

    def run(self) -> Iterator[list[Request]]:
        """Yield the requests that got a token, step by step, until all are done."""
        while self.waiting or self.running:
            joining = self._admit()
            stepped = joining or [*self.running]
            drawn = self._first_tokens(joining) if joining else self._next_tokens()
            for request, token in zip(stepped, drawn, strict=False):  # then padding
                request.out.append(token)
                if len(request.out) == request.most or token in self.ends:
                    self.running.remove(request)
                    self.free += request.pages
            yield stepped

    @staticmethod
    def _pages(request: Request) -> int:
        return -(-(len(request.prompt) + request.most) // PAGE)

    def _admit(self) -> list[Request]:
        joining = []
        while self.waiting and len(self.running) < self.batch:
            count = self._pages(self.waiting[0])
            if count > len(self.free):
                break
            request = self.waiting.popleft()
            request.pages, self.free = self.free[:count], self.free[count:]
            self.running.append(request)
            joining.append(request)
        return joining

    def _first_tokens(self, requests: list[Request]) -> list[int]:
        device, lengths = self.decoder.device, [len(request.prompt) for request in requests]
        indptr, indices, last = used_pages(requests)
        starts = torch.tensor([0, *lengths]).cumsum(0).to(torch.int32)
        shape = self.decoder.shape
        heads = (shape.heads, shape.kv_heads, shape.dim, PAGE)
        table = (int32(indptr), int32(indices), int32(last))
        self.prefill.plan(starts, *table, *heads, causal=True, q_data_type=DTYPE)
        owners = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths))
        places = torch.cat([torch.arange(length) for length in lengths])
        tokens = int32([token for request in requests for token in request.prompt])
        numbers = (x.to(device, torch.int32) for x in (tokens, places, owners, *table))
        self.prefilled += sum(lengths)
        step = Step(*numbers, self.prefill, (starts[1:] - 1).long().to(device), **self.sampling)
        step.seed, step.offset = 1, self.prefilled * 64
        return self.decoder.kernels.sample(self.decoder(step), step).tolist()

    def _next_tokens(self) -> list[int]:
        size = min(self.batch, 1 << (len(self.running) - 1).bit_length())
        if size not in self.decodings:
            sampling = (self.decoder, size, self.workspace)
            self.decodings[size] = Decoding(*sampling, **self.sampling)
        decoding = self.decodings[size]
        decoding.prepare(self.running)
        decoding.launch()
        return decoding.out.tolist()


def serve(options: argparse.Namespace, shape: Shape, weights: Weights) -> list[dict[str, Any]]:
    """Serve requests of different lengths, and say how many tokens a second came out."""
    pages = options.cache or options.requests * -(-(2 * options.context + options.new) // PAGE)
    engine = Engine(
        Decoder(shape, weights, pages),
        max(options.batch),
        ends=options.ends,
        top_k=options.top_k,
        top_p=options.top_p,
    )
    random = torch.Generator().manual_seed(options.seed)
    prompts = options.prompts or [
        random_prompt(2 * options.context, shape.vocab, random) for _ in range(options.requests)
    ]
    requests = [engine.add(prompt, options.new) for prompt in prompts]
    begin, steps, tokens = time.perf_counter(), 0, 0
    for stepped in engine.run():
        steps, tokens = steps + 1, tokens + len(stepped)
    seconds = time.perf_counter() - begin
    print(
        f"{len(requests)} requests, {engine.prefilled} tokens of prompts, {tokens} new ones in "
        f"{steps} steps: {seconds:.2f} s, {tokens / seconds:.0f} tokens/s, compiling included",
        file=sys.stderr,
    )
    return [{"prompt": request.prompt, "out": request.out} for request in requests]


def random_prompt(most: int, vocab: int, random: torch.Generator) -> list[int]:
    length = int(torch.randint(1, most, (1,), generator=random))
    return torch.randint(vocab, (length,), generator=random).tolist()


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    line = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    line.add_argument("--shape", choices=sorted(SHAPES), default="llama-3-8b")
    line.add_argument("--model", type=Path, help="folder of config.json and *.safetensors")
    line.add_argument("--prompt", action="append", help="text, with --model; more than once")
    line.add_argument("--requests", type=int, default=8, help="how many to draw without --prompt")
    line.add_argument("--batch", type=numbers, default=[16], help="requests of a step")
    line.add_argument("--context", type=int, default=0, help="tokens of a prompt, about")
    line.add_argument("--new", type=int, default=16, help="tokens to make for each request")
    line.add_argument("--cache", type=int, help=f"pages of {PAGE} tokens")
    line.add_argument("--top-k", type=int, default=1)
    line.add_argument("--top-p", type=float, default=1.0)
    line.add_argument("--seed", type=int, default=0)
    line.add_argument("--compare", type=lambda text: text.split(","), default=[])
    line.add_argument("--profile", action="store_true")
    line.add_argument("--json", action="store_true")
    options = line.parse_args(arguments)
    if unknown := {*options.compare} - {"torch", "compile", "flashinfer"}:
        line.error(f"--compare {', '.join(unknown)}: it takes torch, compile and flashinfer")
    if DEVICE.get() == "emu" and (options.compare or options.profile):
        line.error("--compare and --profile need a GPU")
    options.context = options.context or (24 if options.shape == "tiny" else 2048)
    options.ends, options.prompts = (), []
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    device = "cpu" if DEVICE.get() == "emu" else "cuda"
    if device == "cuda" and not torch.cuda.is_available():
        raise FictlError(
            "there is no GPU here", "FICTL_DEVICE=emu serves a tiny model: --shape tiny"
        )
    tokenizer: Any = None
    if options.model is None:
        shape = SHAPES[options.shape]
        weights = random_weights(shape, device, options.seed)
    else:
        shape, weights = read_model(options.model, device)
        tokenizer = options.prompt and read_tokenizer(options)
    do: Callable[..., list[dict[str, Any]]] = serve
    if options.compare or options.profile:
        import peers

        do = peers.compare if options.compare else peers.profile
    rows = do(options, shape, weights)
    if tokenizer:
        for row in rows:
            print(tokenizer.decode(row["prompt"]), "→", tokenizer.decode(row["out"]))
    if options.json:
        print(json.dumps(rows, indent=1))
    return 0


def read_tokenizer(options: argparse.Namespace) -> Any:
    """Read the model's tokenizer, and encode the prompts."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(options.model / "tokenizer.json"))
    options.prompts = [tokenizer.encode(text).ids for text in options.prompt]
    ends = json.loads((options.model / "config.json").read_text()).get("eos_token_id") or []
    options.ends = ends if isinstance(ends, list) else [ends]
    return tokenizer


if __name__ == "__main__":
    try:
        sys.exit(main())
    except FictlError as error:
        sys.exit(f"error: {error}")
