"""Parts of a GPU as streams: kernels in one of them run on its multiprocessors alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from fictl.compat.flashinfer._device import get_device_index
from fictl.compat.flashinfer._green_driver import DevResource, DoesNotFit, GreenDriver
from fictl.errors import FictlError, InvalidValue, SetupError

__all__ = [
    "create_green_ctx_streams",
    "get_cudevice",
    "get_device_resource",
    "get_sm_count_constraint",
    "split_device_green_ctx",
    "split_device_green_ctx_by_sm_count",
    "split_resource",
]


def split_device_green_ctx(
    dev: torch.device, num_groups: int, min_count: int
) -> tuple[list[torch.cuda.Stream], list[DevResource]]:
    """Divide a GPU into groups of equally many multiprocessors, and the rest: (streams, resources).

    Kernels in a stream run on its group's multiprocessors. The rest is the last of both lists, and
    `resource.sm.smCount` says how many each has: min_count, which the driver rounds up, on Hopper to
    a multiple of 8. Streams live as long as the process.
    """
    _check_counts("num_groups", [num_groups])
    _check_counts("min_count", [min_count])
    device, whole = _whole(dev)
    try:
        groups, rest = split_resource(whole, num_groups, min_count)
    except DoesNotFit as error:
        raise _too_much(dev, whole, f"{num_groups} groups of {min_count}", error) from error
    return _with_streams(device, dev, whole, [*groups, rest])


def split_device_green_ctx_by_sm_count(
    dev: torch.device, sm_counts: Sequence[int]
) -> tuple[list[torch.cuda.Stream], list[DevResource]]:
    """Divide a GPU into groups of so many multiprocessors each, and the rest: (streams, resources).

    As split_device_green_ctx does, but each group has a count of its own.
    """
    _check_counts("sm_counts", sm_counts)
    device, whole = _whole(dev)
    try:
        resources = _in_turn(device, whole, sm_counts)
    except DoesNotFit as error:
        raise _too_much(dev, whole, f"groups of {[*sm_counts]}", error) from error
    return _with_streams(device, dev, whole, resources)


def get_sm_count_constraint(major: int, minor: int) -> tuple[int, int]:
    """Smallest group of multiprocessors of an architecture, and what all sizes are multiples of."""
    known = {6: (1, 1), 7: (2, 2), 8: (4, 2)}
    if major < min(known):
        raise InvalidValue(
            f"Unsupported CUDA capability: {major}.{minor}", "green contexts are for 6.0 and newer"
        )
    return known.get(major, (8, 8))


def get_cudevice(dev: torch.device) -> int:
    """Handle of a device in the driver's API."""
    parsed = torch.device(dev)
    if parsed.type == "cuda" and not torch.cuda.is_available():
        raise SetupError(
            f"{parsed}: torch {torch.__version__} finds no GPU to divide",
            "run this on a machine with an NVIDIA GPU, with a CUDA build of torch",
        )
    index = get_device_index(parsed)
    return GreenDriver().device(index)


def get_device_resource(cu_dev: int) -> DevResource:
    """All multiprocessors of a device."""
    return GreenDriver().resource(cu_dev)


def split_resource(
    resource: DevResource, num_groups: int, min_count: int
) -> tuple[list[DevResource], DevResource]:
    """Divide a device's or a context's multiprocessors into equal groups, and the rest."""
    return GreenDriver().split(resource, num_groups, min_count)


def create_green_ctx_streams(
    cu_dev: int, resources: Sequence[DevResource]
) -> list[torch.cuda.Stream]:
    """Create a context for each resource, and a stream in it."""
    driver = GreenDriver()
    handles = [driver.stream(driver.context(cu_dev, part)) for part in resources]
    external: Any = torch.cuda.ExternalStream  # Which has no types.
    return [external(handle, device=cu_dev) for handle in handles]


def _whole(dev: torch.device) -> tuple[int, DevResource]:
    device = get_cudevice(dev)
    # Why: without the primary context, each green one would create and destroy it.
    torch.cuda.synchronize(dev)
    return device, get_device_resource(device)


def _in_turn(device: int, whole: DevResource, counts: Sequence[int]) -> list[DevResource]:
    """Take a group after the other. The rest of a split is split again by way of a context."""
    driver, resources, rest = GreenDriver(), [], whole
    for count in counts:
        groups, rest = driver.split(rest, 1, count)
        resources += groups
        if rest.sm.smCount:
            rest = driver.resource_of(driver.context(device, rest))
    return [*resources, rest]


def _with_streams(
    device: int, dev: torch.device, whole: DevResource, resources: list[DevResource]
) -> tuple[list[torch.cuda.Stream], list[DevResource]]:
    counts = [part.sm.smCount for part in resources]
    if not counts[-1]:
        raise _too_much(
            dev, whole, f"groups of {counts[:-1]}", "nothing is left for the last stream"
        )
    return create_green_ctx_streams(device, resources), resources


def _check_counts(name: str, counts: Sequence[int]) -> None:
    if not counts:
        raise InvalidValue(f"{name} is empty", "pass a number of multiprocessors for each group")
    for count in counts:
        if isinstance(count, bool) or not isinstance(count, int) or not 0 < count < 2**31:
            raise InvalidValue(
                f"{name} has {count!r}", "SM count must be positive: pass an int above 0"
            )


def _too_much(dev: torch.device, whole: DevResource, wanted: str, why: object) -> FictlError:
    return DoesNotFit(
        f"{dev} has {whole.sm.smCount} multiprocessors; {wanted} do not fit: {why}",
        "ask for fewer groups, or for fewer multiprocessors a group",
    )
