"""Timing of one function on a GPU, in one call."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from fictl import settings
from fictl.errors import InvalidValue
from fictl.timing.measure import measure
from fictl.timing.samples import Samples
from fictl.timing.side import Side
from fictl.timing.stop import Stop


class GpuTime(tuple[float, float]):  # noqa: SLOT001  # a tuple has no room for slots
    """(median, standard deviation) in seconds; `samples` records how they were measured."""

    samples: Samples

    def __new__(cls, samples: Samples) -> GpuTime:
        self = super().__new__(cls, (samples.median, samples.std))
        self.samples = samples
        return self


def bench_gpu_time(
    fn: Callable[..., object],
    args: Sequence[Any] = (),
    *,
    enable_cupti: bool = True,
    num_iters: int | None = None,
    dry_run_iters: int | None = None,
    repeat_iters: int | None = None,
    kwargs: Mapping[str, Any] | None = None,
    cold_l2_cache: bool = True,
) -> GpuTime:
    """Time `fn(*args, **kwargs)`: `median, std = bench_gpu_time(fn, (x, y))`, in seconds.

    For a cold L2, each call uses the next of several copies of the tensor arguments. If they are
    small, or `fn` holds its tensors itself, L2 is flushed before each call instead.

    Args:
        enable_cupti: False excludes CUPTI, the most exact timer.
        num_iters: Number of samples; without it, until the median's relative standard error is
            below 0.3 %, or for 2 s.
        dry_run_iters: Calls before the warm-up, which is always done.
        repeat_iters: Another name of num_iters.
        cold_l2_cache: False keeps L2 as the last call left it.
    """
    given = dict(kwargs or {})
    samples = repeat_iters if num_iters is None else num_iters
    for _ in range(dry_run_iters or 0):
        fn(*args, **given)
    timer = "auto" if enable_cupti else "graph,events"
    stop = Stop() if samples is None else _exactly(samples)
    return GpuTime(sample_times(fn, args, given, timer=timer, cold=cold_l2_cache, stop=stop))


def sample_times(
    fn: Callable[..., object],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    timer: str,
    cold: bool,
    stop: Stop,
) -> Samples:
    """Time calls; `timer` names one or, with commas, several GPU timers. The CPU uses its clock."""
    tensors = list(_tensors([args, kwargs]))

    def make(index: int) -> Callable[[], object]:
        # The first copy is the caller's own tensors, which then hold the results.
        words, named = _copied([args, dict(kwargs)], {}) if index else (args, kwargs)
        return lambda: fn(*words, **named)

    device = _device(tensors)
    timed = measure(
        {_name(fn): Side(make, _bytes(tensors))},
        timer="auto" if device == "cpu" else timer,
        device=device,
        cold=cold,
        stop=stop,
    )
    return timed[_name(fn)]


def _exactly(count: int) -> Stop:
    if count < 1:
        raise InvalidValue(f"{count} samples are none", "num_iters is at least 1")
    return Stop(min_rounds=count, max_rounds=count, max_seconds=math.inf)


def _name(fn: Callable[..., object]) -> str:
    return str(getattr(fn, "__name__", type(fn).__name__))


def _device(tensors: Sequence[torch.Tensor]) -> str:
    on_gpu = [tensor.device for tensor in tensors if tensor.is_cuda]
    if on_gpu:
        return str(on_gpu[0])
    if settings.DEVICE.get() == "emu":
        return "cpu"
    if tensors or not torch.cuda.is_available():
        what = "the tensors are on the CPU" if tensors else "this machine has no CUDA device"
        raise InvalidValue(
            f"bench_gpu_time: {what}, so there is no GPU to time",
            "give tensors on a CUDA device, or set FICTL_DEVICE=emu to time the emulation",
        )
    return "cuda"


def _bytes(tensors: Sequence[torch.Tensor]) -> int:
    """Count the bytes of memory; shared memory and repeated tensors count once."""
    sizes: dict[int, int] = {}
    for tensor in tensors:
        storage = tensor.untyped_storage()
        seen = sizes.get(storage.data_ptr(), 0) + tensor.numel() * tensor.element_size()
        sizes[storage.data_ptr()] = min(seen, storage.nbytes())
    return sum(sizes.values())


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Mapping):
        yield from _tensors(list(value.values()))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _tensors(part)


def _copied(value: Any, storages: dict[int, torch.UntypedStorage]) -> Any:
    """Copy the tensors in a value with their strides; tensors that share memory still share it."""
    if isinstance(value, torch.Tensor):
        storage: Any = value.untyped_storage()
        if storage.data_ptr() not in storages:
            storages[storage.data_ptr()] = storage.clone()
        own = storages[storage.data_ptr()]
        empty = torch.empty(0, dtype=value.dtype, device=value.device)
        return empty.set_(own, value.storage_offset(), value.size(), value.stride())
    if type(value) is dict:
        return {key: _copied(part, storages) for key, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_copied(part, storages) for part in value)
    return value
