"""Recording of all GPU work that a part of a program starts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fictl.errors import SetupError
from fictl.profile.cupti.profile import Profile
from fictl.profile.cupti.recorder import Recorder


@contextmanager
def profile_kernel(name: str = "profile") -> Iterator[Profile]:
    """Record by CUPTI what runs on the GPU inside: kernels, copies, fills, and the host's calls.

    Synchronizes the GPU at both ends, so that earlier work is not counted, and work inside is
    complete. If CUPTI cannot be used, raises a SetupError with the reason before anything inside
    runs.

        with profile_kernel("decode") as profile:
            wrapper.run(q, kv_cache)
        print(profile)
    """
    profile = Profile(name)
    _wait()
    with Recorder() as recorder:
        yield profile
        _wait()
        recorder.collect(otherwise=0)
        profile.work, profile.api = recorder.work, recorder.api


def _wait() -> None:
    """Synchronize all GPUs on which this process has memory: no other GPU has work of
    this process.
    """
    import torch

    if not torch.cuda.is_available():
        raise SetupError(
            f"there is no GPU to profile on: torch {torch.__version__} finds no CUDA device",
            "fictl doctor",
        )
    current = torch.cuda.current_device()
    for index in range(torch.cuda.device_count()):
        if index == current or torch.cuda.memory_reserved(index):
            torch.cuda.synchronize(index)
