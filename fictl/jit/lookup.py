"""Lookup of a module in the stores: what its build must cover, and the matching build."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from fictl import settings
from fictl.arch import Arch, parse_archs, spell
from fictl.errors import SetupError
from fictl.jit.compilers import Compilers, cuda_targets, find_compilers, require_compilers
from fictl.jit.ffi import ffi_abi
from fictl.jit.module_spec import ModuleSpec
from fictl.jit.recipe import Recipe, recipe_of
from fictl.jit.store import this_platform
from fictl.jit.store.entry import Entry
from fictl.jit.store.stores import stores
from fictl.log import logger
from fictl.toolchain import Targets, visible_gpus


class MissingBuild(SetupError):
    """FICTL_DISABLE_JIT is set and no store has the module."""

    def __init__(self, spec: ModuleSpec, recipe: Recipe, passed_over: Iterable[str] = ()) -> None:
        those = "".join(f"\n  {one}" for one in passed_over)
        super().__init__(
            f"{spec.name} is in no store as recipe {recipe.key}, and "
            f"{settings.DISABLE_JIT.name} forbids to compile it"
            f"{'; there are builds that do not fit:' * bool(those)}{those}",
            f"fictl build {spec.name.rpartition('.')[2]} makes it where compiling is allowed",
        )
        self.spec = spec


@dataclass(frozen=True)
class Need:
    """Requirements on a build's architectures: exact targets, or GPUs that it must run on.

    With `exact` the build has these targets and no others, as one that is to be shipped.
    """

    targets: tuple[Arch, ...] = ()
    gpus: tuple[Arch, ...] = ()
    exact: bool = False

    def met_by(self, archs: tuple[Arch, ...]) -> bool:
        runs = all(any(arch.runs_on(gpu) for arch in archs) for gpu in self.gpus)
        targets, built = set(self.targets), set(archs)
        return runs and (targets == built if self.exact else targets <= built)


@dataclass(frozen=True)
class Lookup:
    """One query to the stores, with all data needed to ask it, and its answer.

    `compilers` is None if nothing may or can compile: then a build of any toolchain matches.
    """

    spec: ModuleSpec
    recipe: Recipe
    compilers: Compilers | None
    need: Need
    targets: Targets | None = None
    entry: Entry | None = None

    def stored(self) -> Entry | None:
        """Search the stores now; return the newest valid build that meets the need."""
        identity, searched = self._identity(), []
        for store in stores():
            fits = _fitting(self.need, None if store.prebuilt else identity)
            entry = store.find(self.spec.project, self.spec.name, self.recipe.key, fits)
            if entry is not None:
                logger().debug("%s/%s: found %s", self.spec.project, self.spec.name, entry.path)
                return entry
            searched.append(str(store.root))
        logger().debug(
            "%s/%s: recipe %s for %s is in none of %s",
            self.spec.project,
            self.spec.name,
            self.recipe.key,
            spell(self.need.targets or self.need.gpus) or "any GPU",
            ", ".join(searched),
        )
        return None

    def answered(self) -> Lookup:
        """Return this lookup with the stores' answer in `entry`."""
        return replace(self, entry=self.stored())

    @property
    def compiles(self) -> bool:
        """True if a build would have to compile."""
        return self.entry is None and self.compilers is not None

    def require_compilers(self) -> tuple[Compilers, Targets]:
        """Return what a build needs, or raise the error that says why nothing compiles here."""
        if settings.DISABLE_JIT.get():
            raise MissingBuild(self.spec, self.recipe, self.passed_over())
        compilers = self.compilers or require_compilers(self.recipe.device)
        assert self.targets is not None
        return compilers, self.targets

    def passed_over(self) -> Iterator[str]:
        """Yield each build of this recipe that does not fit, with the reason."""
        for store in stores():
            for entry in store.entries(self.spec.project, self.spec.name):
                identity = None if store.prebuilt else self._identity()
                reason = _unfit(entry, self.need, identity)
                if reason and entry.manifest.recipe == self.recipe.key:
                    yield f"{entry.path}: {reason}"

    def _identity(self) -> dict[str, str] | None:
        """Return the toolchain that a build must have; None if any will do."""
        return self.compilers.identity(self.recipe.libraries) if self.compilers else None


def look_up(spec: ModuleSpec, archs: tuple[Arch, ...] = (), exact: bool = False) -> Lookup:
    """Look up a build for `archs`, or for the targets of environment and GPUs; builds nothing.

    If nothing can compile, any build that runs will do.
    """
    spec = spec.aimed_at(archs)
    recipe = recipe_of(spec)
    compilers = _usable_compilers(recipe)
    if compilers is not None:
        targets = compilers.targets(spec, archs)
        need = Need(targets=targets.archs, exact=exact)
        return Lookup(spec, recipe, compilers, need, targets).answered()
    if exact and recipe.device == "cuda":
        return _nearest_to(Lookup(spec, recipe, None, Need(), cuda_targets(spec, archs, None)))
    need = Need(targets=archs) if archs else need_to_run(spec)
    return Lookup(spec, recipe, None, need).answered()


def look_up_to_run(spec: ModuleSpec) -> Lookup:
    """Look for a build that runs on this machine's GPUs."""
    recipe = recipe_of(spec)
    return Lookup(spec, recipe, _usable_compilers(recipe), need_to_run(spec)).answered()


def find(spec: ModuleSpec) -> Entry | None:
    """Return the newest valid build that runs on this machine's GPUs."""
    return look_up_to_run(spec).entry


def need_to_run(spec: ModuleSpec) -> Need:
    """Return the GPUs that a build must run on here."""
    spec.require_device()
    if spec.runs_on == "emu":
        return Need()
    gpus = tuple(sorted({gpu.arch for gpu in visible_gpus()}))
    listed = parse_archs(settings.CUDA_ARCH_LIST.get(), native=lambda: gpus)
    supported = tuple(gpu for gpu in gpus if spec.archs.supports(gpu))
    covered = tuple(gpu for gpu in supported if any(arch.runs_on(gpu) for arch in listed))
    # No build runs on a GPU that the spec excludes: the selection of targets reports that.
    return Need(gpus=covered or supported or gpus)


def _usable_compilers(recipe: Recipe) -> Compilers | None:
    return None if settings.DISABLE_JIT.get() else find_compilers(recipe.device)


def _nearest_to(lookup: Lookup) -> Lookup:
    """Take the build for exactly the lookup's targets, else one that covers them."""
    assert lookup.targets is not None
    archs = lookup.targets.archs
    exactly = replace(lookup, need=Need(archs, exact=True)).answered()
    return exactly if exactly.entry else replace(lookup, need=Need(archs)).answered()


def _fitting(need: Need, identity: dict[str, str] | None) -> Callable[[Entry], bool]:
    def fits(entry: Entry) -> bool:
        reason = _unfit(entry, need, identity)
        if reason:
            logger().debug("%s is passed over: %s", entry.path, reason)
        return not reason

    return fits


def _unfit(entry: Entry, need: Need, identity: dict[str, str] | None) -> str:
    """Say why a build does not answer a query; '' if it does."""
    manifest = entry.manifest
    if identity is not None and not identity.items() <= manifest.toolchain.items():
        return "other compilers built it"
    if manifest.ffi_abi != ffi_abi():
        return f"it speaks the ABI of tvm-ffi {manifest.ffi_abi}, here is {ffi_abi()}"
    if not need.met_by(entry.archs):
        return f"it was built for {spell(entry.archs) or 'no architecture'}"
    # Older versions of fictl did not measure it, and left paths of the machine in their builds.
    if need.exact and identity is not None and not manifest.platform:
        return "its platform is not known"
    return this_platform.unfit(manifest.platform)
