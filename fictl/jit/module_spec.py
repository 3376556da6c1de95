"""ModuleSpec: the description of a loadable module. Data only; nothing is read or compiled here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.arch import Arch, ArchRule
from fictl.errors import NotOnDevice

_ANY = ArchRule.parse(">=7.5")
RUNTIME_MODULE = "emu.runtime"


@dataclass(frozen=True)
class Template:
    """A Jinja file, rendered to `output` with `parameters`; all three are in the digest."""

    path: Path
    output: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ModuleSpec:
    """One loadable module: sources, flags, and supported architectures.

    `triton` is a Python file with kernels, in Triton or CuTe DSL: kernel.py is compiled to
    kernel.inc, for a launcher.
    `max_spill_bytes` and `allowed_remarks` are limits on what ptxas reports of the .cu files.
    """

    name: str
    sources: tuple[Path, ...]
    extra_cuda_cflags: tuple[str, ...] = ()
    extra_cflags: tuple[str, ...] = ()
    extra_ldflags: tuple[str, ...] = ()
    include_dirs: tuple[Path, ...] = ()
    template: Template | None = None
    triton: Path | None = None
    archs: ArchRule = _ANY
    exact_archs: tuple[Arch, ...] = ()
    fallback_archs: str = ""
    project: str = "local"
    base: Path = field(default_factory=Path)
    device: str = ""
    devices: tuple[str, ...] = ("cuda", "emu")
    max_spill_bytes: int | None = None
    allowed_remarks: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Name for people: with the launcher where the module is one of an op's backends."""
        launcher = self.sources[0].name if self.sources else ""
        return f"{self.name} ({launcher})" if launcher.startswith("launcher_") else self.name

    @property
    def runs_on(self) -> str:
        """Return the spec's device, or by default the one that ops of this process run on."""
        return self.device or settings.DEVICE.get()

    @property
    def made_from(self) -> tuple[Path, ...]:
        """Return input files that are not sources: a build generates includes from them."""
        template = self.template.path if self.template else None
        return tuple(path for path in (template, self.triton) if path)

    def aimed_at(self, archs: Iterable[Arch]) -> ModuleSpec:
        """Return the spec for the device that `archs` imply: named architectures mean GPUs."""
        return replace(self, device="cuda") if tuple(archs) and not self.device else self

    @property
    def is_runtime(self) -> bool:
        """True for the emulated device's runtime, which the other modules link to."""
        return (self.project, self.name) == ("fictl", RUNTIME_MODULE)

    def require_device(self) -> None:
        """Refuse a device that the op does not declare; a build may predate the declaration."""
        if self.runs_on == "emu" and "emu" not in self.devices:
            raise NotOnDevice(
                f"{self.name} does not run on the emulated device: its op.py declares "
                f"devices={' '.join(self.devices)!r}",
                "run it on a GPU, or add emu there",
            )
