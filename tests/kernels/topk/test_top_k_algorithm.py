"""FICTL_TOPK_ALGO: the way is another, what is chosen is the same."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from fictl.kernels.topk.top_k import trace
from fictl.kernels.topk.top_k.op import top_k, top_k_page_table_transform, top_k_ragged_transform

ALGORITHMS = ("auto", "filtered", "multi_cta", "radix", "clusters")
COUNTED = ("multi_cta", "radix")
NONE, SMALL, LARGE = 0, 1, 2


@pytest.fixture(params=ALGORITHMS)
def algorithm(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("FICTL_TOPK_ALGO", request.param)
    return request.param


@pytest.fixture
def rows(device: str) -> torch.Tensor:
    """Misaligned rows, whose first element, an edge, is the largest."""
    x = torch.randn(3, 9005, device=device)[:, 1:]
    x[:, 0] = 100
    return x


def test_elements_are_counted_in_the_order_of_the_row_or_listed_edges_last(
    algorithm: str, rows: torch.Tensor
) -> None:
    indices = top_k(rows, 40)[1]
    in_row_order = bool((indices.diff(dim=1) > 0).all())
    assert in_row_order == (algorithm in COUNTED)


@pytest.mark.parametrize("options", [{}, {"sorted": True}, {"deterministic": True}], ids=str)
@pytest.mark.parametrize("tie_break", [NONE, SMALL, LARGE])
def test_the_same_elements_are_chosen(
    algorithm: str, rows: torch.Tensor, options: dict[str, bool], tie_break: int
) -> None:
    x = rows.mul(3).round()
    for k in (1, 40, 9004):
        values, indices = top_k(x, k, **options, tie_break=tie_break)
        inputs = {"input": x, "k": k, "tie_break": tie_break, **options}
        trace.top_k.judge(inputs, {"values": values, "indices": indices})


def test_the_transforms_go_by_it_too(rows: torch.Tensor, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = torch.arange(9005, dtype=torch.int32, device=rows.device).repeat(3, 1)
    lengths = torch.tensor([9004, 9000, 30], device=rows.device)
    offsets = torch.tensor([0, 5, 7], device=rows.device)
    calls: tuple[Callable[[], torch.Tensor], ...] = (
        lambda: top_k_page_table_transform(rows, numbers, lengths, 40),
        lambda: top_k_ragged_transform(rows, offsets, lengths, 40),
    )
    for call in calls:
        found = {}
        for algorithm in ALGORITHMS:
            monkeypatch.setenv("FICTL_TOPK_ALGO", algorithm)
            found[algorithm] = call()
            ordered = bool((found[algorithm][:2].diff(dim=1) > 0).all())
            assert ordered == (algorithm in COUNTED)
        assert all(
            torch.equal(x.sort(dim=1)[0], found["auto"].sort(dim=1)[0]) for x in found.values()
        )


def test_it_is_read_at_every_call_and_unset_it_is_auto(
    rows: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, counted in (("radix", True), ("", False), (" RADIX ", True), ("Auto", False)):
        monkeypatch.setenv("FICTL_TOPK_ALGO", name)
        assert bool((top_k(rows, 40)[1].diff(dim=1) > 0).all()) == counted


@pytest.mark.parametrize("value", ["cub", "1", "filtered,radix"])
def test_another_value_is_refused_by_name(
    rows: torch.Tensor, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("FICTL_TOPK_ALGO", value)
    with pytest.raises(ValueError, match=f"FICTL_TOPK_ALGO='{value}': expected one of auto, fil"):
        top_k(rows, 2)


def test_compiled_it_is_that_of_the_tracing(
    rows: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_TOPK_ALGO", "radix")
    compiled = torch.compile(top_k, fullgraph=True, backend="eager")
    assert bool((compiled(rows, 40)[1].diff(dim=1) > 0).all())


@pytest.mark.needs_gpu
@pytest.mark.parametrize("count", [1, 40, 150, 700])
def test_long_rows_have_the_same_results_however_many_blocks_share_them(
    algorithm: str, count: int, device: str
) -> None:
    x = torch.randn(count, 131_073, device=device)[:, 1:]
    x[0] = x[0].mul(2).round()
    for k in (1, 256, 4096, 9000):
        values, indices = top_k(x, k, sorted=True, tie_break=SMALL)
        inputs = {"input": x, "k": k, "tie_break": SMALL, "sorted": True}
        trace.top_k.judge(inputs, {"values": values, "indices": indices})


@pytest.mark.needs_gpu
def test_blocks_share_a_row_or_not(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 200 rows none is shared by itself; one long row is, on a GPU with clusters."""
    if torch.cuda.get_device_capability()[0] < 9:
        pytest.skip("clusters need sm_90")
    assert _blocks(200, "auto", monkeypatch) == _blocks(200, "filtered", monkeypatch) == 200
    assert _blocks(200, "clusters", monkeypatch) > 200
    assert _blocks(1, "auto", monkeypatch) > _blocks(1, "filtered", monkeypatch) == 1


def _blocks(rows: int, algorithm: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("FICTL_TOPK_ALGO", algorithm)
    x = torch.randn(rows, 131_072, device="cuda")
    top_k(x, 64)
    kinds = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=kinds, acc_events=True) as profile:
        top_k(x, 64)
        torch.cuda.synchronize()
    return _grid(profile)


def _grid(profile: torch.profiler.profile) -> int:
    """As the Chrome trace has it: the profiler's own rows say nothing of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profile.export_chrome_trace(str(path))
        events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    kernels = [event for event in events if "TopKKernel" in str(event.get("name"))]
    return int(kernels[0]["args"]["grid"][0])
