"""The plan of a build: which unit is compiled by which command. Nothing runs here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.arch import Arch
from fictl.errors import UsageError
from fictl.jit import reproducible
from fictl.jit.compilers import Compilers
from fictl.jit.ffi import FfiPaths, ffi_abi, ffi_paths
from fictl.jit.kernel_language import language_of
from fictl.jit.module_spec import ModuleSpec
from fictl.jit.recipe import Recipe, digest, includes_rendered, unit_files, unit_inputs
from fictl.jit.reproducible import Place
from fictl.jit.store import this_platform
from fictl.jit.store.entry import MODULE, SCHEMA
from fictl.toolchain import Targets, library_includes

_HOST_SUFFIXES = (".cpp", ".cc", ".cxx", ".S")


@dataclass(frozen=True)
class Unit:
    """One translation unit: its object file, its cache key and its command without `--threads`.

    `device`: nvcc compiles it.
    """

    source: Path
    object: str
    key: str
    argv: tuple[str, ...]
    device: bool

    @property
    def log(self) -> str:
        """Name of the file with the compiler's output, beside the object."""
        return f"{self.object}.log"


@dataclass(frozen=True)
class Plan:
    """The steps of a build of `spec` for these targets with this toolchain.

    `generated`: steps that write includes of device units. `runtime`: the emulated device's build.
    `places`: folders that have other names in the code; none if the build is for this machine alone.
    """

    spec: ModuleSpec
    recipe: Recipe
    targets: Targets
    identity: dict[str, str]
    ffi_abi: str
    cudart: int
    units: tuple[Unit, ...]
    link: tuple[str, ...]
    generated: Unit | None = None
    runtime: Path | None = None
    places: tuple[Place, ...] = ()

    @property
    def steps(self) -> tuple[Unit, ...]:
        """All steps before the link."""
        return (self.generated, *self.units) if self.generated else self.units

    @property
    def keys(self) -> tuple[str, str]:
        """Return recipe and build: the names of the two nested folders that hold it in a store."""
        return self.recipe.key, self.build_key

    @property
    def build_key(self) -> str:
        return build_key(self.identity, self.targets.archs, self.cudart)


def build_key(identity: dict[str, str], archs: Sequence[Arch], cudart: int) -> str:
    """Return the name of the build that these tools make here for these targets."""
    platform, targets = this_platform.here().general, [str(arch) for arch in archs]
    return digest([SCHEMA, platform, identity, targets, ffi_abi(), cudart])


def make_plan(spec: ModuleSpec, recipe: Recipe, targets: Targets, compilers: Compilers) -> Plan:
    identity = compilers.identity(recipe.libraries)
    paths = ffi_paths()
    generated = _generated(spec, recipe, targets, identity)
    places = _places(spec, recipe, compilers, paths)
    units = tuple(
        _unit(spec, recipe, targets, compilers, identity, paths, generated, places, index)
        for index in range(len(spec.sources))
    )
    return Plan(
        spec,
        recipe,
        targets,
        identity,
        ffi_abi(),
        compilers.cudart,
        units,
        _link(spec, recipe, compilers, paths, units),
        generated,
        places=places,
    )


def _generated(
    spec: ModuleSpec, recipe: Recipe, targets: Targets, identity: dict[str, str]
) -> Unit | None:
    if spec.triton is None:
        return None
    language = language_of(spec.triton)
    language.require(spec.name, identity)
    source, output = spec.triton, f"src/{spec.triton.stem}.inc"
    traced = recipe.flags.variant != "release"
    argv = language.command(source, targets.archs, output, line_info=traced)
    archs = [str(arch) for arch in targets.archs]
    version = identity[language.library]
    parts = [unit_inputs(spec, source), language.own_digest(), archs, traced, version]
    return Unit(source, output, digest(parts), argv, device=False)


def _unit(
    spec: ModuleSpec,
    recipe: Recipe,
    targets: Targets,
    compilers: Compilers,
    identity: dict[str, str],
    paths: FfiPaths,
    generated: Unit | None,
    places: tuple[Place, ...],
    index: int,
) -> Unit:
    source = spec.sources[index]
    names = [path.stem for path in spec.sources]
    stem = source.stem if names.count(source.stem) == 1 else f"{source.stem}.{index}"
    if source.suffix == ".cu":
        command = _kernel(spec, recipe, targets.archs, compilers, paths)
        archs = [str(arch) for arch in targets.archs]
    elif source.suffix in _HOST_SUFFIXES:
        command = _cxx(spec, recipe, compilers, paths)
        archs = []
    else:
        raise UsageError(
            f"{spec.name}: cannot compile {source.name}", "sources end in .cu, .cpp, .cc or .cxx"
        )
    inputs = unit_inputs(spec, source)
    # Why not for every unit: a binding that does not include config.inc is compiled once for all.
    sees = source.suffix == ".cu" or includes_rendered(spec, source)
    rendered: list[Any] = [recipe.inputs, recipe.parameters] if spec.template and sees else []
    if generated and source.suffix == ".cu":
        rendered.append(generated.key)
    flags = recipe.flags.kernel if source.suffix == ".cu" else recipe.flags.cxx
    files = unit_files(spec, source).values()
    rules = reproducible.rules(recipe.device, recipe.flags.variant, files)
    key = digest([stem, inputs, rendered, flags, archs, identity, ffi_abi(), recipe.device, *rules])
    object_name = f"{stem}.o"
    by_nvcc = source.suffix == ".cu" and recipe.device == "cuda"
    alike = reproducible.words(places, stem, source, by_nvcc)
    argv = (*command, *alike, "-c", str(source), "-o", object_name)
    return Unit(source, object_name, key, argv, by_nvcc)


def _places(
    spec: ModuleSpec, recipe: Recipe, compilers: Compilers, paths: FfiPaths
) -> tuple[Place, ...]:
    if not reproducible.hides_paths(recipe.device, recipe.flags.variant):
        return ()
    cutlass = (("cutlass", folder) for folder in library_includes(recipe.libraries))
    ours = (("dlpack", paths.dlpack), ("tvm_ffi", paths.tvm_ffi))  # Often one folder.
    return reproducible.places_of(spec, (*compilers.header_folders, *cutlass, *ours))


def _includes(spec: ModuleSpec, *system: Path) -> tuple[str, ...]:
    rendered = ("-Isrc",) if spec.made_from else ()
    return (
        *rendered,
        *(f"-I{path}" for path in spec.include_dirs),
        *(word for path in system for word in ("-isystem", str(path))),
    )


def _kernel(
    spec: ModuleSpec, recipe: Recipe, archs: tuple[Arch, ...], compilers: Compilers, paths: FfiPaths
) -> tuple[str, ...]:
    more = library_includes(recipe.libraries)
    return (
        *compilers.kernel_command(recipe.flags, archs),
        *_includes(spec, paths.dlpack, paths.tvm_ffi, *compilers.include_dirs, *more),
    )


def _cxx(
    spec: ModuleSpec, recipe: Recipe, compilers: Compilers, paths: FfiPaths
) -> tuple[str, ...]:
    return (
        *settings.CXX_LAUNCHER.get(),
        *compilers.cxx.argv,
        *recipe.flags.cxx,
        *compilers.cxx_words(),
        *_includes(spec, paths.tvm_ffi, paths.dlpack, *compilers.include_dirs),
    )


def _link(
    spec: ModuleSpec, recipe: Recipe, compilers: Compilers, paths: FfiPaths, units: tuple[Unit, ...]
) -> tuple[str, ...]:
    # Why kernels first: if both define an inline function, the linker takes the first, and a
    # binding's is not optimised, or instrumented, as a kernel's has to be.
    units = tuple(sorted(units, key=lambda unit: unit.source.suffix != ".cu"))
    return (
        *compilers.cxx.argv,
        *recipe.flags.link,
        *(unit.object for unit in units),
        *compilers.libraries(spec),
        f"-L{paths.library.parent}",
        "-ltvm_ffi",
        "-ldl",
        "-lrt",
        "-lpthread",
        "-o",
        MODULE,
    )
