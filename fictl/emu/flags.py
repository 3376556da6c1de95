"""Compiler flags of the emulated device, common to all compilers; part of a module's key."""

from __future__ import annotations

from collections.abc import Iterable

# Reasons: CUDA code accesses memory through other types and relies on wrapping integers; it fuses
# multiply-adds only explicitly; a fiber's stack overflow must hit the guard page, never skip it; an
# access through null must be reported, not optimised away.
_KERNEL = (
    "-std=c++17",
    "-fPIC",
    "-fvisibility=hidden",
    "-w",
    "-DFICTL_EMU=1",
    "-fno-strict-aliasing",
    "-fwrapv",
    "-ffp-contract=off",
    "-fstack-clash-protection",
    "-fno-omit-frame-pointer",
    "-fno-delete-null-pointer-checks",
)
_CXX = ("-std=c++17", "-fPIC", "-fvisibility=hidden", "-DFICTL_EMU=1")
_LINK = ("-shared", "-Wl,--no-undefined", "-Wl,--as-needed")

# Compilers do not instrument memcpy, memmove and memset. In check mode they therefore stay calls,
# which the linker redirects to the runtime. Some distributions fortify them by default: undo that.
_CHECKED = (
    "-U_FORTIFY_SOURCE",
    "-fsanitize=thread",
    "-fsanitize=alignment,bounds",
    "-fno-builtin-memcpy",
    "-fno-builtin-memmove",
    "-fno-builtin-memset",
)
_CHECKED_LINK = ("-Wl,--wrap=memcpy", "-Wl,--wrap=memmove", "-Wl,--wrap=memset")

# Always on: reports name the line of a fault, at little cost. DWARF 4, because addr2line confuses
# files in later versions. -gdwarf-4 comes first because it implies a level above -g1.
LINES = ("-gdwarf-4", "-g1")
# The macro that <fictl/device/profiler.cuh> tests.
PROFILED = "FICTL_PROFILE"
# Flags of kernels and of bindings. Bindings are not optimised: their run time is negligible beside
# an emulated kernel, and they compile three times as fast.
VARIANTS = {
    "fast": (("-O1", *LINES), ("-O0",)),
    "profile": (("-O1", *LINES, f"-D{PROFILED}=1"), ("-O0",)),
    "check": (("-O1", *LINES, *_CHECKED), ("-O0",)),
    "debug": (("-O0", "-gdwarf-4", "-g"), ("-O0", "-gdwarf-4", "-g")),
}


def kernel_flags(
    variant: str, cuda_flags: Iterable[str], cxx_flags: Iterable[str]
) -> tuple[str, ...]:
    """Return the flags of a unit with kernels; of nvcc's flags, only macros are kept."""
    macros = (flag for flag in cuda_flags if flag.startswith(("-D", "-U")))
    return (*_KERNEL, *VARIANTS[variant][0], *macros, *cxx_flags)


def cxx_flags(variant: str, more: Iterable[str]) -> tuple[str, ...]:
    return (*_CXX, *VARIANTS[variant][1], *more)


def link_flags(variant: str) -> tuple[str, ...]:
    return (*_LINK, *(_CHECKED_LINK if variant == "check" else ()))
