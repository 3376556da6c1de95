"""The compiler flags of each kind of unit: semantic ones, which are in the key, and paths, which are not."""

from __future__ import annotations

from dataclasses import dataclass

from fictl import settings
from fictl.emu import flags as emu
from fictl.emu.flags import PROFILED
from fictl.jit.module_spec import ModuleSpec

_NVCC = (
    "-std=c++17",
    "--expt-relaxed-constexpr",
    "-Xcompiler=-fPIC,-fvisibility=hidden",
    "-Xfatbin=-compress-all",
)
_CXX = ("-std=c++17", "-fPIC", "-fvisibility=hidden")
# Why now: a function that an older CUDA runtime lacks is an error at load, which would else end the
# process at its first call.
_LINK = ("-shared", "-Wl,--no-undefined", "-Wl,--exclude-libs,ALL", "-Wl,-z,now")

# Why -O1: a binding only unpacks and checks arguments; -O2 costs compile time and gains nothing.
# Why -s: a third of a small module is symbols, and every load hashes the whole file.
_VARIANTS = {
    "release": (("-O3",), ("-O1",), ("-Wl,-s",)),
    "lineinfo": (("-O3", "-lineinfo"), ("-O1", "-g1"), ()),
    "profile": (("-O3", f"-D{PROFILED}=1"), ("-O1",), ("-Wl,-s",)),
    "debug": (("-O0", "-g", "-G"), ("-O0", "-g"), ()),
}


@dataclass(frozen=True)
class Flags:
    """The semantic flags of one variant of one spec; `kernel` are those of a .cu.

    `limits` of the gate are among them, so that a build in a store has passed its own.
    """

    variant: str
    kernel: tuple[str, ...]
    cxx: tuple[str, ...]
    link: tuple[str, ...]
    environment: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()


def current_variant(device: str = "cuda") -> str:
    if settings.JIT_DEBUG.get():
        return "debug"
    if settings.JIT_PROFILE.get():
        return "profile"
    if device == "emu":
        return "check" if settings.EMU_CHECK.get() else "fast"
    return "lineinfo" if settings.JIT_LINEINFO.get() else "release"


def semantic_flags(spec: ModuleSpec) -> Flags:
    return _emu_flags(spec) if spec.runs_on == "emu" else _cuda_flags(spec)


def _emu_flags(spec: ModuleSpec) -> Flags:
    if (
        spec.is_runtime
    ):  # It serves all variants of the modules; flags that users add are for the modules.
        own = emu.cxx_flags("fast", spec.extra_cflags)
        return Flags("fast", (), own, (*emu.link_flags("fast"), *spec.extra_ldflags))
    variant = current_variant("emu")
    cuda = (*spec.extra_cuda_cflags, *settings.EXTRA_CUDAFLAGS.get())
    cxx = (*spec.extra_cflags, *settings.EXTRA_CFLAGS.get())
    link = (*emu.link_flags(variant), *spec.extra_ldflags, *settings.EXTRA_LDFLAGS.get())
    return Flags(variant, emu.kernel_flags(variant, cuda, cxx), emu.cxx_flags(variant, cxx), link)


def _cuda_flags(spec: ModuleSpec) -> Flags:
    variant = current_variant()
    nvcc, cxx, link = _VARIANTS[variant]
    return Flags(
        variant=variant,
        kernel=(*_NVCC, *nvcc, *spec.extra_cuda_cflags, *settings.EXTRA_CUDAFLAGS.get()),
        cxx=(*_CXX, *cxx, *spec.extra_cflags, *settings.EXTRA_CFLAGS.get()),
        link=(*_LINK, *link, *spec.extra_ldflags, *settings.EXTRA_LDFLAGS.get()),
        # Flags that nvcc itself adds to its command line.
        environment=(settings.NVCC_PREPEND_FLAGS.get(), settings.NVCC_APPEND_FLAGS.get()),
        limits=_limits(spec),
    )


def _limits(spec: ModuleSpec) -> tuple[str, ...]:
    spills = spec.max_spill_bytes
    declared = () if spills is None else (f"max_spill_bytes={spills}",)
    return (*declared, *(f"allowed_remarks={code}" for code in spec.allowed_remarks))
