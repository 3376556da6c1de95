"""Finds compilers, their targets, and the targets to build for."""

from __future__ import annotations

from dataclasses import dataclass

from fictl import settings
from fictl.errors import SetupError
from fictl.toolchain import gpus, hostcxx, memo, search
from fictl.toolchain.arch_request import native_targets
from fictl.toolchain.capability import can_target
from fictl.toolchain.cudart import cudart_to_link, find_cudart, get_cudart
from fictl.toolchain.gpus import Gpu, Probe, probe, require_gpu, visible_gpus
from fictl.toolchain.headers import CudaHeaders, find_headers, require_headers
from fictl.toolchain.hostcxx import HostCompiler, find_cxx
from fictl.toolchain.layout import cudart_name
from fictl.toolchain.libraries import cutlass_include, library_includes, library_versions
from fictl.toolchain.nvcc import Nvcc
from fictl.toolchain.search import Candidate, candidates, find_nvcc, require_nvcc
from fictl.toolchain.targets import Dropped, Targets, defines, nvcc_flags, select_targets
from fictl.toolchain.tools import find_tool

__all__ = [
    "Candidate",
    "CudaHeaders",
    "Dropped",
    "Gpu",
    "HostCompiler",
    "Nvcc",
    "Probe",
    "Targets",
    "Toolchain",
    "can_target",
    "candidates",
    "cudart_name",
    "cudart_to_link",
    "current_toolchain",
    "cutlass_include",
    "defines",
    "find_cudart",
    "find_cxx",
    "find_headers",
    "find_nvcc",
    "find_tool",
    "forget",
    "get_cudart",
    "library_includes",
    "library_versions",
    "native_targets",
    "nvcc_flags",
    "probe",
    "require_gpu",
    "require_headers",
    "require_nvcc",
    "require_toolchain",
    "select_targets",
    "visible_gpus",
]


@dataclass(frozen=True)
class Toolchain:
    """The two compilers needed to build a module."""

    nvcc: Nvcc
    cxx: HostCompiler

    def identity(self) -> dict[str, str]:
        """Return what a build depends on: versions and build ids, never paths."""
        return {"nvcc": self.nvcc.identity, "cxx": self.cxx.identity}


def require_toolchain() -> Toolchain:
    return Toolchain(require_nvcc(), find_cxx())


def current_toolchain() -> Toolchain | None:
    """Return both compilers; None on a machine that only runs prebuilt modules."""
    nvcc = find_nvcc()
    if nvcc is None:
        return None
    try:
        return Toolchain(nvcc, find_cxx())
    except SetupError:
        # A broken compiler that the user named is an error, never ignored.
        if settings.CXX.get():
            raise
        return None


def forget() -> None:
    """Clear all cached results, for example after a compiler was installed."""
    for module in (memo, hostcxx, search, gpus):
        module.forget()
    can_target.cache_clear()
