"""Compiler flags of the emulated device, the same for every compiler: they are in a module's key."""

from __future__ import annotations

from collections.abc import Iterable

# Why these: CUDA code reads memory as other types, relies on integers that wrap, and contracts only
# where it says so; a fiber's stack must end in its guard page, never beyond; an access through null is
# to be reported, not to be left out.
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

# No compiler instruments copies and fills: in check mode they stay calls, by those names, which the
# linker sends to the runtime. Some distributions' compilers fortify them by themselves.
_CHECKED = (
    "-U_FORTIFY_SOURCE",
    "-fsanitize=thread",
    "-fsanitize=alignment,bounds",
    "-fno-builtin-memcpy",
    "-fno-builtin-memmove",
    "-fno-builtin-memset",
)
_CHECKED_LINK = ("-Wl,--wrap=memcpy", "-Wl,--wrap=memmove", "-Wl,--wrap=memset")

# Why always: reports name the line of a fault, and it costs little. Why DWARF 4: of later ones
# addr2line takes one file for another. It comes first, as it asks for more than lines.
LINES = ("-gdwarf-4", "-g1")
# What <fictl/device/profiler.cuh> asks for.
PROFILED = "FICTL_PROFILE"
# Why bindings are not optimised: beside an emulated kernel they take no time, and they compile in a
# third of it.
VARIANTS = {
    "fast": (("-O1", *LINES), ("-O0",)),
    "profile": (("-O1", *LINES, f"-D{PROFILED}=1"), ("-O0",)),
    "check": (("-O1", *LINES, *_CHECKED), ("-O0",)),
    "debug": (("-O0", "-gdwarf-4", "-g"), ("-O0", "-gdwarf-4", "-g")),
}


def kernel_flags(
    variant: str, cuda_flags: Iterable[str], cxx_flags: Iterable[str]
) -> tuple[str, ...]:
    """Flags of a unit with kernels; only the macros among nvcc's flags mean something here."""
    macros = (flag for flag in cuda_flags if flag.startswith(("-D", "-U")))
    return (*_KERNEL, *VARIANTS[variant][0], *macros, *cxx_flags)


def cxx_flags(variant: str, more: Iterable[str]) -> tuple[str, ...]:
    return (*_CXX, *VARIANTS[variant][1], *more)


def link_flags(variant: str) -> tuple[str, ...]:
    return (*_LINK, *(_CHECKED_LINK if variant == "check" else ()))
