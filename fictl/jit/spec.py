"""JitSpec: what a module is compiled from. A description; nothing happens until it is asked to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fictl import settings
from fictl.arch import Arch, ArchRule, parse_gencode, unique
from fictl.errors import MissingFile, NotOnDevice, UsageError
from fictl.paths import data_root, write_atomic
from fictl.user_file import read_bytes

if TYPE_CHECKING:
    from fictl.jit.progress import Observer
    from fictl.jit.store.entry import Entry

_ANY = ArchRule.parse(">=7.5")
RUNTIME_MODULE = "emu.runtime"


@dataclass(frozen=True)
class Template:
    """A Jinja file, rendered to `output` with `parameters`; the digest has all three."""

    path: Path
    output: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class JitSpec:
    """One loadable module: sources, flags, and the architectures that they are written for.

    `triton` is a Python file with kernels: kernel.py is compiled to kernel.inc, for a launcher.
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

    @property
    def runs_on(self) -> str:
        """Its own device, or the one that ops run on in this process."""
        return self.device or settings.DEVICE.get()

    @property
    def made_from(self) -> tuple[Path, ...]:
        """Files that are no sources themselves: what a build writes for the sources to include."""
        template = self.template.path if self.template else None
        return tuple(path for path in (template, self.triton) if path)

    def aimed_at(self, archs: Iterable[Arch]) -> JitSpec:
        """Who names architectures means GPUs."""
        return replace(self, device="cuda") if tuple(archs) and not self.device else self

    @property
    def is_runtime(self) -> bool:
        """Whether this is the emulated device's runtime, which the others link to."""
        return (self.project, self.name) == ("fictl", RUNTIME_MODULE)

    def require_device(self) -> None:
        """That it is declared for the device it would run on: a build may be older than that."""
        if self.runs_on == "emu" and "emu" not in self.devices:
            raise NotOnDevice(
                f"{self.name} does not run on the emulated device: its op.py declares "
                f"devices={' '.join(self.devices)!r}",
                "run it on a GPU, or add emu there",
            )

    def write_ninja(self, folder: Path | None = None) -> Path:
        """Write build.ninja and the rendered sources to `folder`; `ninja -C` there builds it all."""
        from fictl.jit.build import write_ninja

        return write_ninja(self, folder)

    def try_load(self) -> Any | None:
        """The loaded module if some store has a valid build for this machine; never compiles."""
        from fictl.jit.build import find
        from fictl.jit.load import load_found

        return load_found(lambda: find(self))

    def build(self, archs: Iterable[Arch] = (), observer: Observer | None = None) -> Entry:
        """Compile if no valid build exists; the store entry either way."""
        from fictl.jit.build import ensure

        return ensure(self, tuple(archs), observer).entry

    def build_and_load(self) -> Any:
        """The loaded module, compiled first if need be."""
        from fictl.jit.build import ensure_runs
        from fictl.jit.load import load_found, used

        return load_found(lambda: used(self, ensure_runs(self)))


def gen_jit_spec(
    name: str,
    sources: Sequence[str | Path],
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[str | Path] | None = None,
) -> JitSpec:
    """A spec from plain files. `-gencode` flags become its architectures, `-I` its include_dirs."""
    checked_name(name)
    paths = tuple(Path(os.path.abspath(source)) for source in sources)
    for path in paths:
        if not os.path.isfile(path):
            raise MissingFile(f"{name}: source {path} does not exist")
    if not paths:
        raise UsageError(f"{name}: no sources given")
    cuda_flags, cxx_flags = tuple(extra_cuda_cflags or ()), tuple(extra_cflags or ())
    # Why: headers are found for the key on include_dirs, and a path must not be part of it.
    included = [flag[2:] for flag in (*cuda_flags, *cxx_flags) if _is_include(flag)]
    shipped = data_root("kernels")
    return JitSpec(
        name=name,
        sources=paths,
        extra_cuda_cflags=tuple(
            flag for flag in cuda_flags if not (parse_gencode(flag) or _is_include(flag))
        ),
        extra_cflags=tuple(flag for flag in cxx_flags if not _is_include(flag)),
        extra_ldflags=tuple(extra_ldflags or ()),
        include_dirs=(
            *(Path(os.path.abspath(path)) for path in (*(extra_include_paths or ()), *included)),
            shipped / "include",
            shipped,
        ),
        exact_archs=unique(arch for flag in cuda_flags for arch in parse_gencode(flag)),
        base=Path(os.path.commonpath([path.parent for path in paths])),
    )


def checked_name(name: str) -> str:
    """Of a module: it names its folder in the cache."""
    if not name or "/" in name or name.startswith("."):
        raise UsageError(f"{name!r} cannot name a module", "use letters, digits, '_', '-' and '.'")
    return name


def _is_include(flag: str) -> bool:
    return flag.startswith("-I") and len(flag) > 2


def write_if_different(path: str | Path, content: str) -> None:
    """Write generated code; a file that has this text already keeps its mtime."""
    target = Path(path)
    if os.path.isfile(target) and read_bytes(target) == content.encode():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(target, content)
