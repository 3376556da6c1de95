"""Arguments of FlashInfer's module generators, for users who write their own."""

from __future__ import annotations

import logging

from fictl.compat.flashinfer._errors import MissingJITCacheError
from fictl.errors import InvalidValue, NotOnDevice
from fictl.jit import JitSpec, current_compilation_context
from fictl.op.folder_specs import folder_specs

__all__ = [
    "MissingJITCacheError",
    "check_cuda_arch",
    "gen_act_and_mul_module",
    "logger",
    "sm89_nvcc_flags",
    "sm90a_nvcc_flags",
    "sm100a_nvcc_flags",
    "sm100f_nvcc_flags",
    "sm103a_nvcc_flags",
    "sm110a_nvcc_flags",
    "sm120a_nvcc_flags",
    "sm120f_nvcc_flags",
    "sm121a_nvcc_flags",
]

_OLDEST = (7, 5)
# fictl's own, by the name that its messages have.
logger = logging.getLogger("fictl")


def _flags(number: str) -> list[str]:
    """Flags for extra_cuda_cflags of gen_jit_spec, which turns them into architectures."""
    return [f"-gencode=arch=compute_{number},code=sm_{number}"]


sm89_nvcc_flags = _flags("89")
sm90a_nvcc_flags = _flags("90a")
sm100a_nvcc_flags = _flags("100a")
sm100f_nvcc_flags = _flags("100f")
sm103a_nvcc_flags = _flags("103a")
sm110a_nvcc_flags = _flags("110a")
sm120a_nvcc_flags = _flags("120a")
sm120f_nvcc_flags = _flags("120f")
sm121a_nvcc_flags = _flags("121a")


def gen_act_and_mul_module(act_func_name: str) -> JitSpec:
    """Module of all gated activations: "silu", "gelu" or "gelu_tanh"."""
    from fictl.project import Project, find

    (folder,) = find("act_and_mul", [Project.shipped()])
    names = [declared.name.removesuffix("_and_mul") for declared in folder.declarations()]
    if act_func_name not in names:
        raise InvalidValue(
            f"there is no activation {act_func_name!r}", f"one of {', '.join(names)}"
        )
    spec: JitSpec
    (spec,) = folder_specs(folder)
    return spec


def check_cuda_arch() -> None:
    """Refuse to go on where no GPU here, and no architecture that is set, runs fictl's kernels."""
    archs = sorted(current_compilation_context.TARGET_CUDA_ARCHS)
    if not any(
        (major, int("".join(filter(str.isdigit, minor)))) >= _OLDEST for major, minor in archs
    ):
        seen = ", ".join(f"{major}.{minor}" for major, minor in archs) or "none"
        raise NotOnDevice(
            f"fictl's kernels need architecture 7.5 or newer; found: {seen}",
            "FICTL_CUDA_ARCH_LIST names some where there is no GPU",
        )
