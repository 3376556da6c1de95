"""The rule for builds that other machines may have: they mean the same, and work, on all of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import chain

from fictl import rooted
from fictl.jit.store.entry import Entry, Manifest
from fictl.paths import own_folders

# The variant of each device that holds no paths of the machine that built it.
SHARED_VARIANTS = {"cuda": "release", "emu": "fast"}

_THIS_CPU = re.compile(r"-m(?:arch|cpu|tune)=native\b")
# nvcc writes the paths of sources for these whatever the host compiler is told about paths.
_DEVICE_LINES = re.compile(r"(?:^|[\s,=])(-lineinfo|--?generate-line-info|-G|--?device-debug)\b")


def unshareable(entry: Entry) -> str:
    """Say why a build must not be given to other machines; '' if it may. Its files are read."""
    return next(chain(_reasons(entry.manifest), _paths(entry)), "")


def unshared_variant(device: str, variant: str) -> str:
    """Say why builds of this variant are not given to other machines; '' if they are."""
    shared = SHARED_VARIANTS.get(device)
    if shared is None or variant == shared:
        return "" if shared else f"builds for the device {device} are not known here"
    return f"it is a {variant} build: only {shared} builds are the same on every machine"


def _reasons(manifest: Manifest) -> Iterator[str]:
    if reason := unshared_variant(manifest.device, manifest.variant):
        yield reason
    words = [word for of_tool in manifest.flags.values() for word in of_tool]
    if match := next(filter(None, map(_THIS_CPU.search, words)), None):
        yield f"it was compiled for the CPU of its own machine, with {match[0]}"
    lines = next(filter(None, map(_DEVICE_LINES.search, words)), None)
    if lines and manifest.device == "cuda":
        yield f"it names files of its own machine, because of {lines[1]}"
    if not manifest.platform:
        yield "its platform is not known: an older fictl built it"


def _paths(entry: Entry) -> Iterator[str]:
    """Yield the folders of this machine and its user that a file of the build names."""
    for name in entry.manifest.files:
        data = rooted.read(entry.path / name)
        for what, folder in own_folders().items():
            if data.find(os.fsencode(f"{folder}{os.sep}")) >= 0:
                yield f"{name} names a file in {folder} ({what}), which is of this machine alone"
