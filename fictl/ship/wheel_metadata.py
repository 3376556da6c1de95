"""The texts of a wheel's .dist-info: what it is called, what is inside, and where fictl finds it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fictl.jit.store.entry import Manifest
from fictl.jit.store.installed import GROUP
from fictl.ship.source_package import SourcePackage
from fictl.toolchain import cudart_name, get_cudart
from fictl.version import VERSION

_PURE = "false"  # Installers put other files where those of one platform belong.
_PYTHON = ">=3.10"


@dataclass(frozen=True)
class WheelName:
    """The name of a wheel: of its package, as in `fictl-prebuilt-sm9x-cu13`, and of the file."""

    name: str
    version: str
    tag: str

    @property
    def package(self) -> str:
        """The name of the folder that it installs, and the first part of the file's name."""
        return re.sub(r"[-_.]+", "_", self.name).lower()

    @property
    def file(self) -> str:
        return f"{self.package}-{self.version}-{self.tag}.whl"

    @property
    def info(self) -> str:
        return f"{self.package}-{self.version}.dist-info"


def wheel_text(name: WheelName) -> str:
    rows = ("Wheel-Version: 1.0", f"Generator: fictl {VERSION}", f"Root-Is-Purelib: {_PURE}")
    return "\n".join((*rows, f"Tag: {name.tag}", ""))


def entry_points(name: WheelName) -> str:
    return f"[{GROUP}]\n{name.package} = {name.package}\n"


def metadata_text(name: WheelName, source: SourcePackage, manifests: Iterable[Manifest]) -> str:
    listed = sorted(manifests, key=lambda manifest: (manifest.project, manifest.module))
    head = "\n".join(_head(name, source, listed))
    return f"{head}\n\n{_description(name, source, listed)}\n"


def _head(name: WheelName, source: SourcePackage, manifests: list[Manifest]) -> Iterator[str]:
    yield "Metadata-Version: 2.4"
    yield f"Name: {name.name}"
    yield f"Version: {name.version}"
    yield f"Summary: Prebuilt modules of {source.name}: {_targets(manifests)}"
    if source.license:
        yield f"License-Expression: {source.license}"
    yield from (f"License-File: {file}" for file in sorted(source.license_files))
    yield "Keywords: CUDA,GPU,kernels,fictl"
    yield "Classifier: Operating System :: POSIX :: Linux"
    yield from ("Classifier: Environment :: GPU :: NVIDIA CUDA",) * bool(_cuda(manifests))
    yield f"Requires-Python: {_PYTHON}"
    yield "Requires-Dist: fictl"
    yield "Description-Content-Type: text/markdown"


def _description(name: WheelName, source: SourcePackage, manifests: list[Manifest]) -> str:
    cuda = _cuda(manifests)
    runtime = (
        f"They need a driver of CUDA {cuda} or newer, and CUDA's runtime, {cudart_name(cuda)}, which a "
        f"torch of CUDA {cuda} brings. Without one: {get_cudart(cuda)}.\n\n"
        if cuda
        else "They run on the emulated device, on the CPU.\n\n"
    )
    rows = (f"| {m.module} | {' '.join(m.archs) or m.device} |" for m in manifests)
    return (
        f"# {name.name}\n\n"
        f"Modules of {source.name} {source.version}, built ahead of time. fictl finds them where "
        "this package is installed: there is nothing to set, and nothing is compiled.\n\n"
        f"```\npip install {source.name} {name.name}\n```\n\n{runtime}"
        "A module serves as long as its sources are those that it was built of; edited or newer "
        "sources are compiled, or refused by name where nothing can compile.\n\n"
        "| module | for |\n|---|---|\n" + "\n".join(rows)
    )


def _targets(manifests: Iterable[Manifest]) -> str:
    archs = {arch: None for manifest in manifests for arch in manifest.archs}
    return " ".join(sorted(archs, key=_by_number)) or "emulated device"


def _by_number(arch: str) -> tuple[int, str]:
    return int(arch.partition(".")[0]), arch


def _cuda(manifests: Iterable[Manifest]) -> int:
    return max((m.cudart for m in manifests if m.device == "cuda"), default=0)
