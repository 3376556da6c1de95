"""Conditions for tests: architectures that both the GPU and the CUDA toolkit support."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fictl import settings
from fictl.arch import Arch
from fictl.errors import SetupError, UsageError

if TYPE_CHECKING:
    import torch


def get_compute_capability(device: torch.device | str | int | None = None) -> tuple[int, int]:
    """Compute capability of a GPU, by default the current one, or of the emulated device: (9, 0)."""
    from fictl.testing.device import available_archs

    archs, arch = available_archs(), _arch(device)
    if arch is not None:
        return arch.major, arch.minor
    if not archs:
        raise SetupError(
            "there is no GPU that has a compute capability", "FICTL_DEVICE=emu emulates one"
        )
    raise UsageError(
        f"there is no GPU {device!s}", f"those visible are cuda:0 to cuda:{len(archs) - 1}"
    )


def is_sm90a_supported(device: torch.device | str | int | None = None) -> bool:
    """Hopper, and CUDA 12.3 or newer, the first with reliable wgmma."""
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
    """True if code for the target `name` runs on the GPU and this nvcc compiles it.

    False where there is no such GPU: tests are skipped by this condition.
    """
    from fictl.toolchain import can_target, find_nvcc

    target, gpu = Arch.parse(name), _arch(device)
    if gpu is None or not target.runs_on(gpu):
        return False
    nvcc = find_nvcc()
    return nvcc is not None and nvcc.version >= since and can_target(nvcc, target)


def _arch(device: Any) -> Arch | None:
    """Return a GPU's architecture, as the driver reports it; None if there is no such GPU.

    torch is used only to find the current GPU.
    """
    from fictl.testing.device import available_archs

    kind, index = _named(device)
    archs = available_archs()
    emulated = settings.DEVICE.get() == "emu"
    if not archs or kind not in (("cuda", "cpu") if emulated else ("cuda",)):
        return None
    if index is None or emulated:
        index = _current() if len(archs) > 1 else 0
    return archs[index] if 0 <= index < len(archs) else None


def _named(device: Any) -> tuple[str, int | None]:
    """Kind and index of a device in any of torch's spellings; works without CUDA in torch."""
    if device is None or isinstance(device, int):
        return "cuda", device
    import torch

    try:
        named = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise UsageError(
            f"{device!r} names no device: {str(error).partition(chr(10))[0]}",
            "name one as torch does: 'cuda', 'cuda:1', 1 or torch.device('cuda')",
        ) from None
    return named.type, named.index


def _current() -> int:
    """Index of torch's current GPU; 0 where this torch has no CUDA."""
    import torch

    return torch.cuda.current_device() if torch.cuda.is_available() else 0
