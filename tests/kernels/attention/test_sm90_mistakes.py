"""Mistakes in the Hopper kernel of attention: each, put into a copy of its headers, is reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

from fictl.errors import FictlError
from fictl.jit import JitSpec
from fictl.kernels.attention._config import Config
from fictl.kernels.attention.prefill.jit import module
from fictl.kernels.attention.prefill.op import (
    BatchPrefillWithPagedKVCacheWrapper,
    BatchPrefillWithRaggedKVCacheWrapper,
)
from fictl.op import KernelModule
from fictl.paths import data_root

from .reference import Batch, Shape, workspace

E4M3 = torch.float8_e4m3fn
SM90 = Path("fictl/attention/sm90")


class Mistake(NamedTuple):
    """A text of a header, what is written in its place, and the kind that is reported."""

    header: str
    right: str
    wrong: str
    kind: str


MISTAKES = (
    Mistake("load.cuh", "shared.value_ring.wait_empty(value_at);", "", "stage-reused"),
    Mistake("consume.cuh", "shared_.value_ring.wait_full(value_at_);", "", "async-read-early"),
    Mistake("consume.cuh", "device::fence_async_shared();", "{}", "missing-proxy-fence"),
    Mistake("consume.cuh", "device::wgmma_wait<1>();", "", "wgmma-register"),
    Mistake(
        "consume.cuh", "Tile::kConsumers - 1) next_.arrive();", "1000) next_.arrive();", "deadlock"
    ),
    Mistake("tile.cuh", "? 224 : 232)", "? 224 : 240)", "register-pool"),
)
TOGETHER = "device::NamedBarrier{kProducerBarrier, %s}.sync();"
# Of the loaders whose warpgroup copies keys: of 16 bits in pages of any size, of 8 bits under
# queries of 16, and of 8 bits.
COPYING = (
    (Mistake("gather.cuh", TOGETHER % "device::kWarpgroup", "", "race|uninitialised"), {}),
    (
        Mistake("widen.cuh", "device::fence_async_shared();", "", "missing-proxy-fence"),
        {"kv_dtype": E4M3},
    ),
    (Mistake("transpose.cuh", TOGETHER % "kThreads", "", "race|uninitialised"), {"dtype": E4M3}),
)


def _with(mistake: Mistake, folder: Path) -> KernelModule:
    """Make modules whose header is a copy with the mistake."""
    text = (data_root("kernels") / "include" / SM90 / mistake.header).read_text(encoding="utf-8")
    assert mistake.right in text, mistake
    wrong = folder / SM90 / mistake.header
    wrong.parent.mkdir(parents=True)
    wrong.write_text(text.replace(mistake.right, mistake.wrong), encoding="utf-8")

    def changed(config: Config) -> JitSpec:
        spec = module(config)
        return replace(spec, include_dirs=(folder, *spec.include_dirs))

    return KernelModule(changed)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: f"{each.kind}-{each.header}")
def test_a_mistake_is_reported(
    mistake: Mistake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    monkeypatch.setenv("FICTL_EMU_CHECK", "1")
    monkeypatch.setattr(BatchPrefillWithRaggedKVCacheWrapper, "kernel", _with(mistake, tmp_path))
    batch = Batch([130], [500], Shape(128, heads=2, kv_heads=2), "cpu")
    made = BatchPrefillWithRaggedKVCacheWrapper(workspace("cpu"), backend="fa3")
    made.plan(batch.qo_indptr, batch.kv_indptr, 2, 2, 128, causal=True, q_data_type=batch.q.dtype)
    with pytest.raises(FictlError, match=mistake.kind):
        made.run(batch.q, *batch.ragged())


@pytest.mark.parametrize(
    ("mistake", "dtypes"), COPYING, ids=lambda each: getattr(each, "header", "")
)
def test_a_mistake_of_those_who_copy_keys_is_reported(
    mistake: Mistake,
    dtypes: dict[str, torch.dtype],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    monkeypatch.setenv("FICTL_EMU_CHECK", "1")
    monkeypatch.setattr(BatchPrefillWithPagedKVCacheWrapper, "kernel", _with(mistake, tmp_path))
    shape = Shape(64, 2, 2, page_size=5, **dtypes)
    batch = Batch([130], [500], shape, "cpu")
    made = BatchPrefillWithPagedKVCacheWrapper(workspace("cpu"), backend="fa3")
    cache = batch.cache()
    types = {"q_data_type": shape.dtype, "kv_data_type": cache.dtype, "o_data_type": torch.float16}
    table = batch.page_table()
    made.plan(batch.qo_indptr, *table, 2, 2, 64, shape.page_size, causal=True, **types)
    with pytest.raises(FictlError, match=mistake.kind):
        made.run(batch.q, cache)


def test_a_mistake_with_boxes_that_are_transposed_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mistake = Mistake("transpose_boxes.cuh", TOGETHER % "kThreads", "", "stage-reused")
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    monkeypatch.setenv("FICTL_EMU_CHECK", "1")
    monkeypatch.setattr(BatchPrefillWithRaggedKVCacheWrapper, "kernel", _with(mistake, tmp_path))
    batch = Batch([130], [512], Shape(64, 2, 2, dtype=E4M3), "cpu")
    made = BatchPrefillWithRaggedKVCacheWrapper(workspace("cpu"), backend="fa3")
    types = {"q_data_type": E4M3, "kv_data_type": E4M3, "o_data_type": torch.float16}
    made.plan(batch.qo_indptr, batch.kv_indptr, 2, 2, 64, causal=True, **types)
    with pytest.raises(FictlError, match=mistake.kind):
        made.run(batch.q, *batch.ragged())
