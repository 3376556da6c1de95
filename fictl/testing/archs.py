"""Whether a GPU and the toolkit together can do what a test is for, as kernel authors ask it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fictl.arch import Arch
from fictl.errors import SetupError, UsageError

if TYPE_CHECKING:
    import torch


def get_compute_capability(device: torch.device | str | int | None = None) -> tuple[int, int]:
    """Of a GPU, by default the current one: (9, 0). Emulated, it is the emulated device's."""
    arch = _arch(device)
    if arch is None:
        raise SetupError(
            "there is no GPU that has a compute capability", "FICTL_DEVICE=emu emulates one"
        )
    return arch.major, arch.minor


def is_sm90a_supported(device: torch.device | str | int | None = None) -> bool:
    """Hopper, and CUDA 12.3 or newer: the first whose wgmma is to be relied on."""
    return _supports("9.0a", device, since=(12, 3))


def is_sm100a_supported(device: torch.device | str | int | None = None) -> bool:
    """B200, and CUDA 12.8 or newer."""
    return _supports("10.0a", device)


def is_sm100f_supported(device: torch.device | str | int | None = None) -> bool:
    """B200 and B300, and CUDA 12.9 or newer."""
    return _supports("10.0f", device)


def is_sm110a_supported(device: torch.device | str | int | None = None) -> bool:
    """Thor, and CUDA 13.0 or newer."""
    return _supports("11.0a", device)


def is_sm120a_supported(device: torch.device | str | int | None = None) -> bool:
    """RTX 50 and RTX PRO Blackwell, and CUDA 12.8 or newer."""
    return _supports("12.0a", device)


def is_sm120f_supported(device: torch.device | str | int | None = None) -> bool:
    """All GPUs of major version 12, and CUDA 12.9 or newer."""
    return _supports("12.0f", device)


def is_sm121a_supported(device: torch.device | str | int | None = None) -> bool:
    """GB10, and CUDA 12.9 or newer."""
    return _supports("12.1a", device)


def _supports(
    name: str, device: torch.device | str | int | None, since: tuple[int, int] = (0, 0)
) -> bool:
    """Whether code for the target `name` runs on the GPU, and nvcc, asked itself, compiles it."""
    from fictl.toolchain import can_target, find_nvcc

    target, gpu = Arch.parse(name), _arch(device)
    if gpu is None or not target.runs_on(gpu):
        return False
    nvcc = find_nvcc()
    return nvcc is not None and nvcc.version >= since and can_target(nvcc, target)


def _arch(device: Any) -> Arch | None:
    """Of the device that tests run on; the driver is asked, torch only which GPU is the current one."""
    from fictl.testing.device import available_archs

    archs = available_archs()
    index = _index(device) if len(archs) > 1 or device is not None else 0
    if not archs:
        return None
    if index >= len(archs):
        raise UsageError(f"there is no GPU {index}", f"those visible are 0 to {len(archs) - 1}")
    return archs[index]


def _index(device: Any) -> int:
    if isinstance(device, int):
        return device
    import torch

    named = torch.device("cuda" if device is None else device)
    if named.type == "cpu":
        return 0  # The emulated device's tensors.
    index: int | None = named.index
    return torch.cuda.current_device() if index is None else index
