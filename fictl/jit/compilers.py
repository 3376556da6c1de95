"""The compilers of a device for a plan: commands, targets, and their part of the cache key."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fictl import settings
from fictl.arch import Arch
from fictl.emu import toolchain as emu
from fictl.jit.emulated_runtime import RUNTIME_NAME
from fictl.jit.flags import Flags
from fictl.jit.module_spec import ModuleSpec
from fictl.toolchain import (
    HostCompiler,
    Nvcc,
    Targets,
    Toolchain,
    cudart_to_link,
    current_toolchain,
    library_versions,
    nvcc_flags,
    require_toolchain,
    select_targets,
)


class Compilers(Protocol):
    """The compilers of one device, found on this machine."""

    @property
    def cxx(self) -> HostCompiler:
        """The compiler of bindings, which also links."""

    @property
    def include_dirs(self) -> tuple[Path, ...]:
        """Folders of CUDA's headers."""

    @property
    def cudart(self) -> int:
        """The major version of the CUDA runtime."""

    def identity(self, libraries: Collection[str]) -> dict[str, str]:
        """Return version and build id of each compiler and of the libraries that a recipe uses."""

    def targets(self, spec: ModuleSpec, archs: tuple[Arch, ...]) -> Targets:
        """Choose the targets: `archs`, or those of environment and GPUs."""

    def kernel_command(self, flags: Flags, archs: tuple[Arch, ...]) -> tuple[str, ...]:
        """Return the command that compiles a .cu, up to the module's own include folders."""

    def cxx_words(self) -> tuple[str, ...]:
        """Return flags that include what every binding needs before its first line."""

    def libraries(self, spec: ModuleSpec) -> tuple[str, ...]:
        """Return the linker flags for the CUDA runtime."""

    @property
    def header_folders(self) -> tuple[tuple[str, Path], ...]:
        """Names and folders of the headers that come with the compilers, as they spell them."""


@dataclass(frozen=True)
class CudaCompilers:
    """nvcc and its host compiler."""

    toolchain: Toolchain

    @property
    def cxx(self) -> HostCompiler:
        return self.toolchain.cxx

    @property
    def include_dirs(self) -> tuple[Path, ...]:
        return self.toolchain.nvcc.include_dirs

    @property
    def cudart(self) -> int:
        return self.toolchain.nvcc.cudart_major

    def identity(self, libraries: Collection[str]) -> dict[str, str]:
        versions = library_versions(libraries, self.include_dirs)
        return {**self.toolchain.identity(), **versions}

    def targets(self, spec: ModuleSpec, archs: tuple[Arch, ...]) -> Targets:
        return cuda_targets(spec, archs, self.toolchain.nvcc)

    def kernel_command(self, flags: Flags, archs: tuple[Arch, ...]) -> tuple[str, ...]:
        nvcc, cxx = self.toolchain.nvcc, self.toolchain.cxx
        return (
            *settings.NVCC_LAUNCHER.get(),
            str(nvcc.path),
            f"-ccbin={cxx.ccbin}",
            *flags.kernel,
            *nvcc_flags(archs),
        )

    def cxx_words(self) -> tuple[str, ...]:
        return ()

    def libraries(self, spec: ModuleSpec) -> tuple[str, ...]:
        # A module of host code alone needs none. What is needed is the library's own name, no path.
        cudart = str(cudart_to_link(self.toolchain.nvcc))
        return ("-Wl,--push-state,--as-needed", cudart, "-Wl,--pop-state")

    @property
    def header_folders(self) -> tuple[tuple[str, Path], ...]:
        nvcc = self.toolchain.nvcc
        # nvcc includes its own headers from the folder of its program on.
        own = [
            at.relative_to(nvcc.home) for at in self.include_dirs if at.is_relative_to(nvcc.home)
        ]
        programs = dict.fromkeys((nvcc.path.parent, nvcc.home / "bin"))
        spelled = (program / ".." / inside for program in programs for inside in own)
        return (*_folders_of(self), *(("cuda", folder) for folder in spelled))


@dataclass(frozen=True)
class EmuCompilers:
    """The host compiler, and the runtime that replaces CUDA's."""

    toolchain: emu.EmuToolchain

    @property
    def cxx(self) -> HostCompiler:
        return self.toolchain.cxx

    @property
    def include_dirs(self) -> tuple[Path, ...]:
        return self.toolchain.headers.include_dirs

    @property
    def cudart(self) -> int:
        return self.toolchain.headers.version[0]

    def identity(self, libraries: Collection[str]) -> dict[str, str]:
        return {**self.toolchain.identity(), **library_versions(libraries, self.include_dirs)}

    def targets(self, spec: ModuleSpec, archs: tuple[Arch, ...]) -> Targets:
        spec.require_device()
        return Targets((), "emulated")

    def kernel_command(self, flags: Flags, archs: tuple[Arch, ...]) -> tuple[str, ...]:
        return self.toolchain.kernel_command(flags.kernel, flags.variant == "check")

    def cxx_words(self) -> tuple[str, ...]:
        return (f"-I{emu.HEADERS}", "-include", emu.NAMES)

    def libraries(self, spec: ModuleSpec) -> tuple[str, ...]:
        return () if spec.is_runtime else ("-L.", f"-l:{RUNTIME_NAME}")

    @property
    def header_folders(self) -> tuple[tuple[str, Path], ...]:
        return _folders_of(self)


def _folders_of(compilers: Compilers) -> tuple[tuple[str, Path], ...]:
    compiler = Path(compilers.cxx.ccbin).parents[1]
    own = [("compiler", compiler)] if compiler != Path("/usr") else []
    return (*own, *(("cuda", folder) for folder in compilers.include_dirs))


def cuda_targets(spec: ModuleSpec, archs: tuple[Arch, ...], nvcc: Nvcc | None) -> Targets:
    """Return `archs`, or the targets of environment and GPUs; without nvcc none is left out."""
    explicit = archs or spec.exact_archs or None
    return select_targets(
        spec.name, spec.archs, nvcc, explicit=explicit, fallback=spec.fallback_archs
    )


def find_compilers(device: str) -> Compilers | None:
    """Find the compilers of a device; None on a machine that only runs prebuilt modules."""
    if device == "emu":
        emulated = emu.current_toolchain()
        return EmuCompilers(emulated) if emulated else None
    toolchain = current_toolchain()
    return CudaCompilers(toolchain) if toolchain else None


def require_compilers(device: str) -> Compilers:
    if device == "emu":
        return EmuCompilers(emu.require_toolchain())
    return CudaCompilers(require_toolchain())
