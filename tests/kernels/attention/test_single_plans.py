"""Plans that calls for one request keep for the next ones like them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from fictl.kernels.attention.single import attend
from fictl.kernels.attention.single import plans as plans_module
from fictl.kernels.attention.single.op import (
    single_decode_with_kv_cache,
    single_prefill_with_kv_cache,
)
from fictl.kernels.attention.single.plans import Plans

from .recorded import Kernel
from .reference import Batch, Shape, assert_attends

BF16, HALF = torch.bfloat16, torch.float16


@pytest.fixture(autouse=True)
def plans(monkeypatch: pytest.MonkeyPatch) -> Iterator[Plans]:
    kept = Plans(most=4)
    monkeypatch.setattr(attend, "PLANS", kept)
    yield kept
    kept.clear()


def _decode(length: int = 900, dtype: torch.dtype = BF16, **options: Any) -> torch.Tensor:
    heads = options.pop("heads", 4)
    q = torch.zeros(heads, 64, dtype=dtype)
    k = torch.zeros(length, 2, 64, dtype=dtype)
    if options.get("kv_layout") == "HND":
        k = k.transpose(0, 1)
    result = single_decode_with_kv_cache(q, k, k, **options)
    assert isinstance(result, torch.Tensor)
    return result


def _prefill(rows: int = 3, length: int = 900, **options: Any) -> torch.Tensor:
    q, k = torch.zeros(rows, 4, 64, dtype=BF16), torch.zeros(length, 2, 64, dtype=BF16)
    result = single_prefill_with_kv_cache(q, k, k, **options)
    assert isinstance(result, torch.Tensor)
    return result


def test_a_call_like_an_earlier_one_plans_nothing(tensor_cores: Kernel, plans: Plans) -> None:
    for _ in range(3):
        _decode()
    assert len(tensor_cores.configs) == len(plans) == 1
    first, second, third = tensor_cores.calls
    assert first["list"] is not None
    assert second["list"] is third["list"] is None
    assert first["items"].data_ptr() == third["items"].data_ptr()


@pytest.mark.parametrize(
    "other",
    [
        {"length": 901},
        {"heads": 8},
        {"dtype": HALF},
        {"kv_layout": "HND"},
        {"window_left": 30},
        {"logits_soft_cap": 5.0},
        {"sm_scale": 0.5},
        {"sm_scale": torch.tensor(0.5)},
        {"pos_encoding_mode": "ALIBI"},
        {"pos_encoding_mode": "ROPE_LLAMA", "rope_theta": 3e4},
    ],
    ids=str,
)
def test_another_decoding_has_another_plan(
    other: dict[str, Any], tensor_cores: Kernel, plans: Plans
) -> None:
    _decode()
    _decode(**other)
    assert len(plans) == 2
    assert all(call["list"] is not None for call in tensor_cores.calls)


@pytest.mark.parametrize(
    "other",
    [
        {"rows": 4},
        {"causal": True},
        {"o_dtype": HALF},
        {"packed_custom_mask": torch.zeros(338, dtype=torch.uint8)},
    ],
    ids=str,
)
def test_another_prefill_has_another_plan(
    other: dict[str, Any], tensor_cores: Kernel, plans: Plans
) -> None:
    _prefill()
    _prefill(**other)
    assert len(plans) == 2


def test_what_a_plan_does_not_depend_on_is_no_other_plan(
    tensor_cores: Kernel, plans: Plans
) -> None:
    _decode()
    _decode(k_scale=0.5, v_scale=2.0, return_lse=False, out=torch.zeros(4, 64, dtype=BF16))
    _decode(sinks=torch.zeros(4))
    assert len(plans) == 1
    assert [call["v_scale"] for call in tensor_cores.calls] == [1.0, 2.0, 1.0]


def test_the_oldest_plan_makes_room(tensor_cores: Kernel, plans: Plans) -> None:
    for length in (100, 200, 300, 400, 500, 100, 500):
        _decode(length)
    assert len(plans) == 4
    assert [call["list"] is None for call in tensor_cores.calls] == [False] * 6 + [True]


def test_streams_share_neither_plans_nor_memory(
    tensor_cores: Kernel, plans: Plans, monkeypatch: pytest.MonkeyPatch
) -> None:
    for stream in (5, 6, 5, 6):
        monkeypatch.setattr(attend, "stream_of", lambda _, stream=stream: stream)
        _decode(900)
        _decode(800)
    assert len(plans) == 4
    calls = tensor_cores.calls
    assert len({call["items"].data_ptr() for call in calls}) == 4
    places = [call["workspace_out"].data_ptr() for call in calls]
    assert places[0] != places[2]
    assert places[:4] == places[4:]


def test_memory_for_parts_is_that_of_the_last_streams(plans: Plans) -> None:
    cpu = torch.device("cpu")
    first = plans.scratch(cpu, 0)
    for stream in range(plans_module._MOST_STREAMS):
        plans.scratch(cpu, stream)
    assert plans.scratch(cpu, 0) is first
    plans.scratch(cpu, -1)
    assert plans.scratch(cpu, 0) is not first


def test_a_captured_call_has_a_plan_of_its_own(
    tensor_cores: Kernel, plans: Plans, monkeypatch: pytest.MonkeyPatch
) -> None:
    _decode()
    monkeypatch.setattr(attend, "stream_of", lambda _: None)
    _decode()
    _decode()
    assert len(plans) == 1
    assert [call["list"] is None for call in tensor_cores.calls] == [False] * 3
    assert len({call["items"].data_ptr() for call in tensor_cores.calls}) == 3


def test_a_call_that_fails_keeps_no_plan(tensor_cores: Kernel, plans: Plans) -> None:
    with pytest.raises(TypeError, match="argument 'out'"):
        _decode(out=torch.zeros(4, 64, dtype=HALF))
    assert len(plans) == 0


def test_tiles_that_a_failed_call_counted_are_forgotten(
    tensor_cores: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    _decode()
    items = tensor_cores.call["items"]
    before = items.clone()

    def count_and_fail(*_: Any) -> None:
        items[0, -2:] = 1
        raise RuntimeError("the kernel failed")

    with monkeypatch.context() as patched:
        patched.setattr(tensor_cores, "attend", count_and_fail)
        with pytest.raises(RuntimeError, match="failed"):
            _decode()
    assert items[0, -2:].eq(1).all()
    _decode()
    assert tensor_cores.call["items"].data_ptr() == items.data_ptr()
    assert items[0, -2:].eq(0).all()
    assert torch.equal(items[:, :-2], before[:, :-2])


def test_plans_outlive_inference_mode(tensor_cores: Kernel) -> None:
    with torch.inference_mode():
        _decode()
    assert not tensor_cores.call["items"].is_inference()


def test_repeats_are_equal_to_the_bit(device: str) -> None:
    shape = Shape(64, 4, 2)
    for length in (700, 300, 700):
        batch = Batch([1], [length], shape, device)
        k, v = batch.ragged()
        found = [single_decode_with_kv_cache(batch.q[0], k, v, return_lse=True) for _ in range(3)]
        out, lse = batch.expected(causal=True)
        assert_attends(found[0], (out[0], lse[0]), length)
        for again in found[1:]:
            assert torch.equal(again[0], found[0][0])
            assert torch.equal(again[1], found[0][1])


@pytest.mark.needs_gpu
def test_a_graph_replays_whatever_has_run_since(plans: Plans) -> None:
    batch = Batch([1], [30000], Shape(128, 16, 2), "cuda")
    (k, v), q = batch.ragged(), batch.q[0]
    wanted = single_decode_with_kv_cache(q, k, v)
    out = torch.empty_like(wanted)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        single_decode_with_kv_cache(q, k, v, out=out)
    plans.clear()
    for length in (30000, 5000, 30000):
        single_decode_with_kv_cache(q, k[:length], v[:length])
        out.fill_(torch.nan)
        graph.replay()
        assert torch.equal(out, wanted)


@pytest.mark.needs_gpu
def test_streams_run_at_once(plans: Plans) -> None:
    batch = Batch([1], [30000], Shape(128, 16, 2), "cuda")
    (k, v), q = batch.ragged(), batch.q[0]
    wanted = single_decode_with_kv_cache(q, k, v)
    streams = [torch.cuda.Stream() for _ in range(3)]
    found = []
    torch.cuda.synchronize()
    for _ in range(20):
        for stream in streams:
            with torch.cuda.stream(stream):
                found.append(single_decode_with_kv_cache(q, k, v))
    torch.cuda.synchronize()
    assert len(plans) == 4
    assert all(torch.equal(each, wanted) for each in found)
