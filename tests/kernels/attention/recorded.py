"""Wrappers whose kernels only write down what they are called with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from fictl.kernels.attention._config import Config
from fictl.kernels.attention.decode import op as decode
from fictl.kernels.attention.prefill import op as prefill

from .planner import compiled

HEADS, KV_HEADS, DIM, PAGE = 8, 2, 64, 4
QO = torch.tensor([0, 2, 5], dtype=torch.int32)
KV = torch.tensor([0, 3, 7], dtype=torch.int32)
PAGES = torch.tensor([0, 1, 3], dtype=torch.int32)
INDICES = torch.tensor([4, 2, 9], dtype=torch.int32)
LAST = torch.tensor([3, 1], dtype=torch.int32)
PAGED = (PAGES, INDICES, LAST, HEADS, KV_HEADS, DIM, PAGE)
NAMES = [
    "op",
    "out",
    "lse",
    "q",
    "k",
    "v",
    "pages",
    "page_size",
    "hnd",
    "items",
    "merges",
    "list",
    "workspace_out",
    "workspace_lse",
    "mask",
    "slopes",
    "sinks",
    "scale_q",
    "scale_k",
    "scale_v",
    "sm_scale",
    "v_scale",
    "soft_cap",
    "window_left",
    "causal",
    "rope_scale",
    "rope_theta",
    "scalars",
    "enable_pdl",
    "most_sms",
]


class Kernel:
    """The planner itself, and what run() would launch."""

    def __init__(self) -> None:
        self.configs: list[Config] = []
        self.calls: list[dict[str, Any]] = []

    def __getitem__(self, config: Config) -> Kernel:
        self.configs.append(config)
        return self

    @property
    def plan(self) -> Callable[..., None]:
        return compiled()

    def attend(self, *arguments: Any) -> None:
        self.calls.append(dict(zip(NAMES, arguments, strict=True)))

    @property
    def call(self) -> dict[str, Any]:
        return self.calls[-1]


def workspace(size: int = 1 << 16) -> torch.Tensor:
    return torch.empty(size, dtype=torch.uint8)


def ints(count: int) -> torch.Tensor:
    return torch.zeros(count, dtype=torch.int32)


def q(tokens: int = 5, heads: int = HEADS) -> torch.Tensor:
    return torch.zeros(tokens, heads, DIM, dtype=torch.float16)


def kv(tokens: int = 7) -> torch.Tensor:
    return torch.zeros(tokens, KV_HEADS, DIM, dtype=torch.float16)


def cache(pages: int = 10) -> torch.Tensor:
    return torch.zeros(pages, 2, PAGE, KV_HEADS, DIM, dtype=torch.float16)


def ragged(**options: Any) -> Any:
    made = prefill.BatchPrefillWithRaggedKVCacheWrapper(workspace())
    made.plan(QO, KV, HEADS, KV_HEADS, DIM, **options)
    return made


def paged(**options: Any) -> Any:
    made = prefill.BatchPrefillWithPagedKVCacheWrapper(workspace())
    made.plan(QO, *PAGED, **options)
    return made


def decoding(**options: Any) -> Any:
    made = decode.BatchDecodeWithPagedKVCacheWrapper(workspace())
    made.plan(*PAGED, **options)
    return made


def graphs(**more: Any) -> Any:
    return decode.BatchDecodeWithPagedKVCacheWrapper(
        workspace(),
        use_cuda_graph=True,
        paged_kv_indptr_buffer=ints(3),
        paged_kv_indices_buffer=ints(2000),
        paged_kv_last_page_len_buffer=ints(2),
        **more,
    )


def prefill_graphs(requests: int = 2, **more: Any) -> Any:
    return prefill.BatchPrefillWithPagedKVCacheWrapper(
        workspace(1 << 20),
        use_cuda_graph=True,
        qo_indptr_buf=ints(requests + 1),
        paged_kv_indptr_buf=ints(requests + 1),
        paged_kv_indices_buf=ints(2000),
        paged_kv_last_page_len_buf=ints(requests),
        **more,
    )
