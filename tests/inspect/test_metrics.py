"""Numbers of kernels, and occupancy where it can be told."""

from __future__ import annotations

from fictl.inspect.metrics import METRICS, LaunchSize, occupancy_of, values


def test_every_metric_has_a_number(kernel) -> None:
    found = values(kernel(), LaunchSize())
    assert list(found) == list(METRICS)
    assert (found["registers"], found["instructions"], found["static_shared"]) == (40, 6, 256)
    assert (found["occupancy"], found["blocks_per_sm"]) == (75.0, 6)


def test_threads_of_the_call_count_before_launch_bounds(kernel) -> None:
    found = occupancy_of(kernel(), LaunchSize(threads=1024))
    assert found is not None
    assert (found.blocks, found.limits) == (1, ("registers",))


def test_dynamic_shared_memory_counts(kernel) -> None:
    found = occupancy_of(kernel(), LaunchSize(dynamic_shared=100 << 10))
    assert found is not None
    assert (found.blocks, found.limits) == (2, ("shared memory",))


def test_named_barriers_count(kernel) -> None:
    found = occupancy_of(kernel(barriers=16), LaunchSize())
    assert found is not None
    assert (found.blocks, found.limits) == (4, ("barriers",))


def test_without_launch_bounds_nobody_knows(kernel) -> None:
    assert occupancy_of(kernel(threads=None), LaunchSize()) is None
    assert values(kernel(threads=None), LaunchSize())["occupancy"] is None


def test_of_an_unknown_architecture_nobody_knows(kernel) -> None:
    assert occupancy_of(kernel(arch="6.1"), LaunchSize()) is None
