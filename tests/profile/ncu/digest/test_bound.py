"""What a kernel is said to be bound by, and what is advised."""

from __future__ import annotations

import csv
import io

import pytest

from fictl.profile.ncu.digest.bound import at_ceiling, bound
from fictl.profile.ncu.launch import parse_launches, table

_PIPE = "sm__inst_executed_pipe_{}.avg.pct_of_peak_sustained_elapsed"


@pytest.mark.parametrize(
    ("metrics", "kind", "said"),
    [
        ({"memory": 81, "dram": 81, "l2": 90, "l1": 33, "compute": 50}, "memory", "DRAM 81 %"),
        ({"memory": 85, "dram": 30, "l2": 84, "l1": 40, "compute": 20}, "memory", "L2 84 %"),
        ({"memory": 70, "dram": 5, "l2": 9, "l1": 70, "compute": 20}, "memory", "L1 and shared"),
        ({"memory": 20, "dram": 20, "compute": 90}, "compute", "compute: 90 %"),
        ({"memory": 40, "dram": 40, "compute": 59.9}, "latency", "latency: memory 40 %"),
        ({"memory": 75, "dram": 75, "compute": 70}, "memory and compute", "alike"),
    ],
)
def test_the_kind_follows_from_what_is_above_60_percent(launch, metrics, kind, said) -> None:
    remark = bound(launch(**metrics))
    assert remark.facts["kind"] == kind
    assert said in remark.text


def test_at_its_ceiling_only_less_work_is_advised(launch) -> None:
    full = launch(memory=81, dram=81, compute=50)
    assert at_ceiling(full)
    assert "fewer bytes" in bound(full).advice
    part = launch(memory=70, dram=70, compute=50)
    assert not at_ceiling(part)
    assert "in flight" in bound(part).advice


@pytest.mark.parametrize(
    ("pipe", "said"),
    [
        ("tensor_op_gmma", "tensor cores 88 %"),
        ("tma", "TMA 88 %"),
        ("xu", "XU pipe"),
        ("alu", "ALU"),
    ],
)
def test_the_busiest_unit_is_named(launch, pipe, said) -> None:
    metrics = {_PIPE.format("fma"): 20, _PIPE.format(pipe): 88}
    remark = bound(launch(memory=20, compute=88, **metrics))
    assert said in remark.text
    assert remark.advice


@pytest.mark.parametrize(
    "metric",
    [
        "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
        "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active",
        "sm__inst_executed_pipe_tensor_op_gmma.avg.pct_of_peak_sustained_active",
    ],
)
@pytest.mark.parametrize("memory", [20, 65, 76])
def test_a_kernel_with_the_tensor_pipe_on_top_is_tensor_pipe_bound(launch, metric, memory) -> None:
    loads = {metric: 77.5, _PIPE.format("alu"): 20, _PIPE.format("tensor_op_gmma"): 3}
    if metric.endswith("active"):
        del loads[_PIPE.format("tensor_op_gmma")]
    remark = bound(launch(memory=memory, l1=memory, compute=77.6, **loads))
    assert remark.text.startswith("tensor-pipe bound: tensor cores 78 % of their peak")
    assert (remark.facts["kind"], remark.facts["unit"]) == ("tensor pipe", "tensor cores")
    assert remark.advice


def test_the_raw_page_of_a_gemm_says_tensor_pipe_bound(recorded) -> None:
    peak = "avg.pct_of_peak_sustained_elapsed"
    loads = {
        f"sm__throughput.{peak}": "91.2",
        f"sm__pipe_tensor_cycles_active.{peak}": "91.2",
        f"gpu__compute_memory_throughput.{peak}": "58.3",
    }
    names, units, *rows = csv.reader(table(recorded("raw.csv")))
    rows = [
        [loads.get(name, value) for name, value in zip(names, row, strict=True)] for row in rows
    ]
    page = io.StringIO()
    csv.writer(page, quoting=csv.QUOTE_ALL).writerows([names, units, *rows])
    launch = parse_launches(page.getvalue())[0]
    assert bound(launch).text == (
        "tensor-pipe bound: tensor cores 91 % of their peak (compute 91 %, memory 58 %)"
    )
    assert at_ceiling(launch)


def test_the_tensor_pipe_counts_where_the_compute_throughput_leaves_it_out(launch) -> None:
    loads = {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed": 81}
    assert "tensor-pipe bound" in bound(launch(memory=30, compute=25, **loads)).text


def test_a_kernel_with_more_load_elsewhere_is_not_tensor_pipe_bound(launch) -> None:
    tensor = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"
    assert bound(launch(memory=88, dram=88, compute=70, **{tensor: 70})).facts["kind"] == "memory"
    issue = {tensor: 62, "sm__issue_active.avg.pct_of_peak_sustained_elapsed": 85}
    assert "issue slots 85 %" in bound(launch(memory=20, compute=85, **issue)).text
    idle = bound(launch(memory=20, compute=48, seconds=1e-3, **{tensor: 48}))
    assert idle.facts["kind"] == "latency"
    assert "the tensor pipe is the busiest unit, 48 %" in idle.text
    assert "stages" in idle.advice


def test_issue_slots_are_a_unit_too(launch) -> None:
    metrics = {_PIPE.format("fma"): 40, "sm__issue_active.avg.pct_of_peak_sustained_elapsed": 90}
    assert "issue slots 90 %" in bound(launch(memory=20, compute=90, **metrics)).text


@pytest.mark.parametrize("metrics", [{}, {_PIPE.format("fma"): 40}])
def test_where_the_limiting_unit_is_not_known_none_is_named(launch, metrics) -> None:
    remark = bound(launch(memory=20, compute=90, **metrics))
    assert (remark.advice, "most of all" in remark.text) == ("", False)


def test_a_short_kernel_is_told_to_do_more(launch) -> None:
    remark = bound(launch(memory=20, compute=10, seconds=2e-6))
    assert "2.0 us" in remark.text
    assert "one launch" in remark.advice


def test_a_grid_that_does_not_fill_the_gpu_is_the_first_thing_to_mend(launch) -> None:
    small = launch(memory=20, compute=10, seconds=9e-6, launch__waves_per_multiprocessor=0.2)
    assert bound(small).advice.startswith("more blocks")


@pytest.mark.parametrize("metrics", [{}, {"memory": 90}, {"compute": 90}])
def test_without_both_numbers_nothing_is_said(launch, metrics) -> None:
    assert bound(launch(**metrics)) is None
