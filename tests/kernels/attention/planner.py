"""The planner by itself, compiled for the host: kernels are not needed to see what it plans."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heapreplace
from itertools import accumulate
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

import torch

from fictl.kernels.attention._plan.lengths import Lengths
from fictl.kernels.attention._plan.work_list import Counts, Tiling, WorkList
from fictl.paths import data_root
from fictl.toolchain import find_cxx

START = 64  # What the start of a block takes, in keys.


@lru_cache(maxsize=1)
def compiled() -> Callable[..., None]:
    """`plan` as modules export it."""
    library, kernels = Path(mkdtemp()) / "plan.so", data_root("kernels")
    words: list[str | Path] = [
        find_cxx().ccbin,
        "-std=c++17",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fPIC",
        "-shared",
        f"-I{kernels}",
        f"-I{kernels / 'include'}",
        Path(__file__).with_name("plan.cpp"),
        "-o",
        library,
    ]
    subprocess.run(words, check=True)
    plan = ctypes.CDLL(str(library)).plan
    flags = {11, 13, 14}
    plan.argtypes = [ctypes.c_bool if at in flags else ctypes.c_int64 for at in range(20)]
    plan.restype = None
    return plan


class Item(NamedTuple):
    request: int
    row: int
    q_start: int
    q_len: int
    kv_start: int
    kv_len: int
    begin: int
    end: int
    partial: int
    mask: int


class Merge(NamedTuple):
    rows: int
    row: int
    q_start: int
    partial: int
    parts: int
    request: int
    q_len: int
    kv_len: int


@dataclass(frozen=True)
class Plan:
    counts: Counts
    items: list[Item]
    merges: list[Merge]

    @property
    def work(self) -> list[Item]:
        """Without padding."""
        return [item for item in self.items if item.request >= 0]


def indptr(lengths: Sequence[int]) -> torch.Tensor:
    return torch.tensor([0, *accumulate(lengths)], dtype=torch.int32)


def plan(
    lengths: Lengths,
    rows: int = 16,
    group: int = 4,
    kv_heads: int = 8,
    slots: int = 264,
    causal: bool = False,
    window_left: int = -1,
    custom_mask: bool = False,
    split: bool = True,
    fixed_split: int = 0,
    most_queries: int = 0,
) -> Plan:
    tiling = Tiling(
        rows,
        group,
        kv_heads,
        slots,
        causal,
        window_left,
        custom_mask,
        split,
        fixed_split,
        most_queries,
    )
    work = WorkList(torch.device("cpu"))
    counts, made = work.draft("op", compiled(), lengths, tiling)
    work.place("op", counts, made, fixed=False, non_blocking=True)
    items = [Item(*line[:10]) for line in work.items.tolist()]
    return Plan(counts, items, [Merge(*line) for line in work.merges.tolist()])


def plan_of(q_lens: Sequence[int], kv_lens: Sequence[int], **options: int) -> Plan:
    return plan(Lengths(len(q_lens), indptr(kv_lens), indptr(q_lens)), **options)


def end_of(plan: Plan, kv_heads: int, slots: int) -> tuple[int, float]:
    """When blocks that start in order, as soon as one ends, are done, and at best could be."""
    free = [0] * slots
    total = 0
    for item in plan.work:
        length = item.end - item.begin + START
        total += length * kv_heads
        for _ in range(kv_heads):
            heapreplace(free, free[0] + length)
    return max(free), total / slots
