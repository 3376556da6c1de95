"""Leftovers of a reference in its process, which the next reference there would meet."""

from __future__ import annotations

import gc
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fictl.judge.inside.integrity import taken

# Memory that stays, in bytes: libraries keep some of their own.
_MOST_HOST, _MOST_GPU = 1 << 30, 256 << 20
_STATM = Path("/proc/self/statm")


class Leftovers:
    """The state from before the first reference, compared with that after any other.

    A reference that knows this code can evade it, since it runs in the same process.
    """

    def __init__(self, device: str) -> None:
        self._integrity = taken()
        self._is_cuda = device == "cuda"
        self._state = _state()
        self._memory = self._bytes()
        self._reset_random_numbers = _resetter(self._is_cuda)

    def found(self) -> list[str]:
        """Names of what is other than before; random numbers begin again."""
        from fictl.runnable import BuilderRegistry

        BuilderRegistry.get_instance().cleanup()
        gc.collect()
        self._reset_random_numbers()
        now = _state()
        state = [name for name, value in self._state.items() if now[name] != value]
        return [*state, *self._integrity.changed(), *self._integrity.threads(), *self._grown()]

    def _grown(self) -> list[str]:
        limits = {"host memory": _MOST_HOST, "GPU memory": _MOST_GPU}
        now = self._bytes()
        return [name for name, size in now.items() if size - self._memory[name] > limits[name]]

    def _bytes(self) -> dict[str, int]:
        pages = int(_STATM.read_text(encoding="ascii").split()[1])
        sizes = {"host memory": pages * os.sysconf("SC_PAGE_SIZE")}
        if self._is_cuda:
            import torch

            torch.cuda.empty_cache()
            sizes["GPU memory"] = torch.cuda.memory_reserved()
        return sizes


def _state() -> dict[str, Any]:
    """Read settings of the process, of Python and of torch that a call may depend on."""
    import torch

    cudnn: Any = torch.backends.cudnn
    return {
        "os.environ": {**os.environ},
        "the working directory": _folder(),
        "the file mode mask": _mask(),
        "sys.path": [*sys.path],
        "sys.meta_path": [*sys.meta_path],
        "the recursion limit": sys.getrecursionlimit(),
        "the default dtype": torch.get_default_dtype(),
        "the default device": torch.get_default_device(),
        "the number of threads": torch.get_num_threads(),
        "the gradient mode": (torch.is_grad_enabled(), torch.is_inference_mode_enabled()),
        "deterministic algorithms": torch.are_deterministic_algorithms_enabled(),
        "the precision of products": _precision(),
        "cuDNN's settings": (cudnn.enabled, cudnn.benchmark, cudnn.deterministic),
    }


def _precision() -> tuple[object, ...]:
    import torch

    backends: Any = torch.backends
    matmul, cudnn = backends.cuda.matmul, backends.cudnn
    try:
        return (
            torch.get_float32_matmul_precision(),
            matmul.allow_tf32,
            matmul.allow_fp16_reduced_precision_reduction,
            matmul.allow_bf16_reduced_precision_reduction,
            cudnn.allow_tf32,
        )
    except RuntimeError:  # It was set by torch's newer names, which the older ones do not read.
        return ()


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # It was removed.
        return ""


def _mask() -> int:
    mask = os.umask(0o77)
    os.umask(mask)
    return mask


def _resetter(is_cuda: bool) -> Callable[[], None]:
    """Return what sets Python's, torch's and NumPy's random numbers back to where they are now."""
    import torch

    numbers = getattr(sys.modules.get("numpy"), "random", None)  # torch imports it where it is.
    array = numbers.get_state() if numbers else None
    python, host = random.getstate(), torch.get_rng_state()
    gpu = torch.cuda.get_rng_state() if is_cuda else None

    def reset() -> None:
        random.setstate(python)
        torch.set_rng_state(host)
        if numbers:
            numbers.set_state(array)
        if gpu is not None:
            torch.cuda.set_rng_state(gpu)

    return reset
