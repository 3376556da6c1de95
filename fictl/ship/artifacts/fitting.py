"""Builds of a snapshot that are for a machine: its CPU, its libc, its ABI, its architectures."""

from __future__ import annotations

from collections.abc import Iterable

from fictl.arch import Arch
from fictl.jit.ffi import ffi_abi
from fictl.jit.remote.document import Document
from fictl.jit.store import this_platform
from fictl.jit.store.entry import Manifest


def unfit(manifest: Manifest) -> str:
    """Say why a build cannot be loaded on this machine; '' if it can."""
    reason = this_platform.unfit(manifest.platform)
    if not reason and manifest.ffi_abi != ffi_abi():
        return f"it speaks the ABI of tvm-ffi {manifest.ffi_abi}, here is {ffi_abi()}"
    return reason


def chosen(
    documents: Iterable[Document], archs: tuple[Arch, ...], everything: bool
) -> tuple[Document, ...]:
    """Choose the builds that fit here and run on one of `archs`, if any are named; or all builds."""
    return tuple(
        document
        for document in documents
        if everything or (not unfit(document.manifest) and _runs(document.manifest, archs))
    )


def _runs(manifest: Manifest, archs: tuple[Arch, ...]) -> bool:
    if not archs or manifest.device != "cuda":
        return True
    built = [Arch.parse(text) for text in manifest.archs]
    return any(one.runs_on(arch) for one in built for arch in archs)
