"""What tests of attention try: compiled variants, and any call of one, drawn with a fresh seed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import torch

from fictl.kernels.attention._tiles import tile_rows

from .reference import Batch, Shape, lengths

HALF, BF16 = torch.float16, torch.bfloat16
E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2


@dataclass(frozen=True)
class Variant:
    """What a kernel is compiled for: `rows` of a tile, by the queries of a batch.

    A kernel on CUDA cores is for one `group`; others are for any, 0.
    """

    name: str
    shape: Shape
    rows: int = 16
    group: int = 0
    soft_cap: bool = False
    alibi: bool = False
    rope: bool = False
    mask: bool = False

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Call:
    """One call: a batch, the options of plan, those of run, and the reference's."""

    batch: Batch
    plan: dict[str, Any] = field(default_factory=dict)
    run: dict[str, Any] = field(default_factory=dict)
    expects: dict[str, Any] = field(default_factory=dict)
    v_scale: float = 1.0

    def expected(self) -> tuple[torch.Tensor, torch.Tensor]:
        out, lse = self.batch.expected(**self.expects)
        return out * self.v_scale, lse

    def cache(self) -> torch.Tensor | tuple[torch.Tensor, ...]:
        """One tensor, or a pair of them."""
        shape = self.batch.shape
        together = self.batch.seed % 2 and shape.dim == shape.value_dim
        return self.batch.cache() if together else self.batch.caches()

    def results(self) -> dict[str, torch.Tensor]:
        """Now and then the caller allocates them; rows of the result are at any pitch."""
        batch, shape = self.batch, self.batch.shape
        if batch.seed % 3:
            return {}
        rows = len(batch.q)
        wide = batch.q.new_full((rows, shape.heads + 2, shape.value_dim), torch.nan)
        lse = torch.full((rows, shape.heads), torch.nan, device=batch.device)
        return {"out": wide[:, : shape.heads], "lse": lse}

    def __str__(self) -> str:
        """What to repeat it with."""
        batch = self.batch
        shown = {k: v for k, v in self.expects.items() if k not in ("masks", "sinks")}
        return (
            f"q_lens {[*batch.q_lens]} kv_lens {[*batch.kv_lens]} {batch.shape} seed {batch.seed} "
            f"{shown} plan {[*self.plan]} run {[*self.run]}"
        )


def draw(variant: Variant, random: Random, device: str, *, paged: bool, decode: bool) -> Call:
    """Any lengths, groups, pages, layout, masks and scales that the variant's kernel serves."""
    many = device == "cuda"
    shape = _shape(variant, random, many)
    q_lens = [1] * random.randint(1, 7) if decode else _queries(variant, shape, random)
    kv_lens = lengths(random, len(q_lens), random.choice((70, 700, 3000)) if many else 40)
    if not decode and random.random() < 0.7:  # As engines have it: queries are among the keys.
        kv_lens = [max(q, kv) for q, kv in zip(q_lens, kv_lens, strict=True)]
    batch = Batch(q_lens, kv_lens, shape, device, random.getrandbits(30))
    call = Call(batch, plan=_scores(variant, random), expects={})
    expects = {k: v for k, v in call.plan.items() if k in ("logits_soft_cap", "sm_scale")}
    expects |= {"alibi": variant.alibi, **_window(random, call.plan)}
    if decode:
        expects["causal"] = True
    elif not variant.mask:
        expects["causal"] = call.plan["causal"] = random.random() < 0.7
    call = replace(call, expects=expects)
    if variant.rope:
        scale, theta = random.choice((1.0, 2.0)), random.choice((1e4, 5e5))
        call.plan.update(pos_encoding_mode="ROPE_LLAMA", rope_scale=scale, rope_theta=theta)
        expects["rope"] = (scale, theta)
    if variant.mask:
        expects["masks"] = _masks(batch, random)
        flat = [mask.flatten() for mask in expects["masks"]]
        call.plan["custom_mask"] = torch.cat(flat)
    if paged and random.random() < 0.3:
        sinks = torch.randn(batch.shape.heads, device=device)
        call.run["sinks"] = expects["sinks"] = sinks
    return _scaled(call, variant, random) if paged and variant.shape.kv_dtype else call


def _queries(variant: Variant, shape: Shape, random: Random) -> list[int]:
    """Of as many requests as make the wrapper choose the variant's tiles."""
    group = shape.heads // shape.kv_heads
    most = {16: 24, 64: 64, 128: 300}[variant.rows] * 2 // group + 1
    while True:
        made = lengths(random, random.randint(1, 6), most)
        if tile_rows(sum(made), len(made), group, shape.dim, shape.value_dim) == variant.rows:
            return made


def _shape(variant: Variant, random: Random, many: bool) -> Shape:
    """Groups of 1 to 16, also odd ones; pages of 1 to 128 slots."""
    kv_heads = random.randint(1, 4 if many else 2)
    group = variant.group or random.choice(range(1, 17) if many else (1, 2, 3))
    return replace(
        variant.shape,
        heads=kv_heads * group,
        kv_heads=kv_heads,
        layout=random.choice(("NHD", "HND")),
        page_size=random.choice((1, 2, 3, 5, 8, 16, 24, 32, 64, 128) if many else (1, 3, 16)),
    )


def _scores(variant: Variant, random: Random) -> dict[str, Any]:
    plan: dict[str, Any] = {}
    if variant.soft_cap:
        plan["logits_soft_cap"] = random.choice((0.5, 5.0, 30.0, 90.0))
    if variant.alibi:
        plan["pos_encoding_mode"] = "ALIBI"
    if random.random() < 0.5:
        plan["sm_scale"] = random.choice((0.02, 0.3, 1.0 / variant.shape.dim))
    return plan


def _window(random: Random, plan: dict[str, Any]) -> dict[str, int]:
    if random.random() < 0.6:
        return {}
    plan["window_left"] = random.choice((0, 1, 7, 16, 63, 100, 500))
    return {"window_left": plan["window_left"]}


def _masks(batch: Batch, random: Random) -> list[torch.Tensor]:
    """Random bits; now and then none of a row."""
    generator = torch.Generator().manual_seed(random.getrandbits(30))
    made = []
    for rows, cols in zip(batch.q_lens, batch.kv_lens, strict=True):
        mask = torch.rand((rows, cols), generator=generator) < random.choice((0.1, 0.5, 0.97))
        mask[torch.rand(rows, generator=generator) < 0.1] = False
        made.append(mask.to(batch.device))
    return made


def _scaled(call: Call, variant: Variant, random: Random) -> Call:
    """Scales of quantised keys and values."""
    k_scale, v_scale = random.choice((1.0, 0.7)), random.choice((1.0, 1.6))
    usual = call.expects.get("sm_scale") or variant.shape.dim**-0.5
    return replace(
        call,
        run={**call.run, "k_scale": k_scale, "v_scale": v_scale},
        expects={**call.expects, "sm_scale": usual * k_scale},
        v_scale=v_scale,
    )
