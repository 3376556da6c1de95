"""The compilers of a place: builds of two places may stand for each other if these are equal."""

from __future__ import annotations

from collections.abc import Mapping

from fictl.errors import FictlError, shown
from fictl.jit.compilers import find_compilers
from fictl.jit.ffi import ffi_abi
from fictl.jit.store.this_platform import here
from fictl.toolchain.libraries import library_versions

# Their headers are part of what modules that use them are compiled from.
_LIBRARIES = ("cutlass", "cccl")


def compilers_here(device: str) -> dict[str, str]:
    """Return platform, ABI, and versions with build ids of the compilers; empty without them."""
    try:
        compilers = find_compilers(device)
    except FictlError:  # One that the user named is broken: a build says so.
        return {}
    if compilers is None:
        return {}
    return {
        "platform": str(here()),
        "tvm-ffi": ffi_abi(),
        **compilers.identity(()),
        **library_versions(_LIBRARIES, compilers.include_dirs),
    }


def difference(here: Mapping[str, str], there: Mapping[str, str], where: str = "here") -> str:
    """Name the first thing that differs; '' if nothing does. where: the place of `here`."""
    for name in dict.fromkeys((*here, *there)):
        ours, theirs = here.get(name, "none"), there.get(name, "none")
        if ours != theirs:
            return f"{shown(name)} is {shown(theirs)} there, and {shown(ours)} {where}"
    return ""
