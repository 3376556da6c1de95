"""Coalescing, bank conflicts and local memory."""

from __future__ import annotations

import pytest

from fictl.profile.ncu.digest.accesses import accesses
from fictl.profile.ncu.source import Line


def loads(used: float, sectors: float, requests: float = 1000) -> dict[str, float]:
    return {
        "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio": used,
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": sectors * requests,
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": requests,
    }


def local(loads: float, stores: float, **spills: float) -> dict[str, float]:
    names = {f"derived__local_{name}": count for name, count in spills.items()}
    executed = "smsp__sass_inst_executed_op_local_{}.sum"
    return {executed.format("ld"): loads, executed.format("st"): stores, **names}


@pytest.mark.parametrize(
    ("metrics", "advice"),
    [
        (loads(32, 16), ""),
        (loads(4, 32), "neighbouring addresses"),
        (loads(32, 4), "4 times fewer requests"),
        (loads(32, 4, requests=100), ""),
    ],
)
def test_loads_are_judged_by_what_they_use_of_a_sector(launch, metrics, advice) -> None:
    (remark,) = accesses(launch(**metrics))
    assert remark.topic == "coalescing"
    assert advice in remark.advice
    assert bool(advice) == bool(remark.advice)


@pytest.mark.parametrize(
    ("passes", "ideal", "said"), [(100, 100, "none to speak of"), (800, 100, "88 % of the passes")]
)
def test_bank_conflicts_are_what_is_more_than_needed(launch, passes, ideal, said) -> None:
    metrics = {"memory_l1_wavefronts_shared": passes, "memory_l1_wavefronts_shared_ideal": ideal}
    (remark,) = accesses(launch(**metrics))
    assert said in remark.text


def test_the_hardware_counts_conflicts_where_the_compiler_did_not(launch) -> None:
    metrics = {
        "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": 400,
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": 300,
    }
    (remark,) = accesses(launch(**metrics))
    assert "75 % of the passes" in remark.text


@pytest.mark.parametrize(
    ("metrics", "said", "advice"),
    [
        (local(0, 0, spilling_requests=0), "none: no spills", ""),
        (
            local(64, 64, spilling_requests=128),
            "128 of their requests are spilled",
            "smaller tiles",
        ),
        (local(64, 64, spilling_requests=0), "none is a spilled register", "indexed at run time"),
        (local(64, 64), "128 instructions of warps access", "indexed at run time"),
        (local(2e6, 1e6, spilling_requests=3e6), "3 M instructions", "smaller tiles"),
    ],
)
def test_local_memory_is_spills_or_arrays(launch, metrics, said, advice) -> None:
    (remark,) = accesses(launch(**metrics))
    assert said in remark.text
    assert advice in remark.advice


def test_the_lines_with_most_local_accesses_are_named(launch) -> None:
    lines = [Line("/a/k.cuh", number, "", 1, {}, count) for number, count in enumerate((3, 0, 9))]
    (remark,) = accesses(launch(**local(64, 64)), lines)
    assert "access local memory, most of them at k.cuh:2, k.cuh:0" in remark.text


def test_a_kernel_without_shared_memory_has_no_conflicts_to_speak_of(launch) -> None:
    metrics = {"memory_l1_wavefronts_shared": 0, "memory_l1_wavefronts_shared_ideal": 0}
    assert list(accesses(launch(**metrics))) == []
    assert list(accesses(launch())) == []
