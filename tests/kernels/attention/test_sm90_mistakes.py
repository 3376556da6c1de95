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
    """A text of a header, what is written in its place, and the kind that is reported.

    Text that ends with a semicolon is statements, other text is an expression.
    """

    header: str
    right: str
    wrong: str
    kind: str


MISTAKES = (
    Mistake("load.cuh", "shared.value_ring.wait_empty(value_at);", "", "stage-reused"),
    Mistake("consume.cuh", "shared_.value_ring.wait_full(value_at_);", "", "async-read-early"),
    Mistake("consume.cuh", "device::fence_async_shared();", "{}", "missing-proxy-fence"),
    Mistake("consume.cuh", "device::wgmma_wait<1>();", "", "wgmma-register"),
    Mistake("consume.cuh", "warpgroup == Tile::kConsumers - 1", "warpgroup == 1000", "deadlock"),
)
CONSTANT = Mistake("tile.cuh", "? 224 : 232)", "? 224 : 240)", "register-pool")
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


def _header(name: str) -> str:
    return (data_root("kernels") / "include" / SM90 / name).read_text(encoding="utf-8")


def _module(folder: Path, headers: dict[str, str]) -> KernelModule:
    """Make modules that have these headers in place of ours."""
    for name, text in headers.items():
        path = folder / SM90 / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def changed(config: Config) -> JitSpec:
        spec = module(config)
        return replace(spec, include_dirs=(folder, *spec.include_dirs))

    return KernelModule(changed)


def _with(mistake: Mistake, folder: Path) -> KernelModule:
    """Make modules whose header is a copy with the mistake."""
    text = _header(mistake.header)
    assert mistake.right in text, mistake
    return _module(folder, {mistake.header: text.replace(mistake.right, mistake.wrong)})


def _either(mistake: Mistake) -> str:
    """Return C++ that is wrong where FICTL_MISTAKE, as the kernel runs, says so.

    By calls alone: a kernel that itself reads memory of the host is reported for that.
    """
    asks = f'std::atoi(std::getenv("FICTL_MISTAKE")) == {MISTAKES.index(mistake)}'
    if mistake.right.endswith(";"):
        return f"{{ if ({asks}) {{ {mistake.wrong} }} else {{ {mistake.right} }} }}"
    return f"({asks} ? {mistake.wrong} : {mistake.right})"


@pytest.fixture(scope="module")
def with_all(tmp_path_factory: pytest.TempPathFactory) -> KernelModule:
    """Modules with all of MISTAKES, of which a run makes one: a module is seconds of compiling."""
    headers = {name: _header(name) for name in {mistake.header for mistake in MISTAKES}}
    for mistake in MISTAKES:
        assert mistake.right in headers[mistake.header], mistake
        text = headers[mistake.header].replace(mistake.right, _either(mistake))
        headers[mistake.header] = text
    texts = {name: f"#include <cstdlib>\n{text}" for name, text in headers.items()}
    return _module(tmp_path_factory.mktemp("mistakes"), texts)


def _run(kernel: KernelModule, monkeypatch: pytest.MonkeyPatch) -> torch.Tensor:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    monkeypatch.setenv("FICTL_EMU_CHECK", "1")
    monkeypatch.setattr(BatchPrefillWithRaggedKVCacheWrapper, "kernel", kernel)
    batch = Batch([130], [500], Shape(128, heads=2, kv_heads=2), "cpu")
    made = BatchPrefillWithRaggedKVCacheWrapper(workspace("cpu"), backend="fa3")
    made.plan(batch.qo_indptr, batch.kv_indptr, 2, 2, 128, causal=True, q_data_type=batch.q.dtype)
    return made.run(batch.q, *batch.ragged())


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: f"{each.kind}-{each.header}")
def test_a_mistake_is_reported(
    mistake: Mistake, with_all: KernelModule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_MISTAKE", str(MISTAKES.index(mistake)))
    with pytest.raises(FictlError, match=mistake.kind):
        _run(with_all, monkeypatch)


def test_without_a_mistake_nothing_is_reported(
    with_all: KernelModule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_MISTAKE", "-1")
    assert bool(_run(with_all, monkeypatch).isfinite().all())


def test_a_wrong_constant_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FictlError, match=CONSTANT.kind):
        _run(_with(CONSTANT, tmp_path), monkeypatch)


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
