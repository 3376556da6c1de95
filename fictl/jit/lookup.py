"""Lookup of a module in the stores: what its build must cover, and the matching build."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from fictl import settings
from fictl.arch import Arch, parse_archs, spell
from fictl.errors import SetupError
from fictl.jit import cuda_runtime
from fictl.jit.compilers import Compilers, cuda_targets, find_compilers, require_compilers
from fictl.jit.ffi import ffi_abi
from fictl.jit.locked import Locked, locked
from fictl.jit.module_spec import ModuleSpec
from fictl.jit.recipe import Recipe, recipe_of
from fictl.jit.store import this_platform
from fictl.jit.store.entry import Entry
from fictl.jit.store.stores import Store, stores
from fictl.log import logger
from fictl.toolchain import Targets, probe, visible_gpus


class MissingBuild(SetupError):
    """FICTL_DISABLE_JIT is set and no store has the module."""

    code = "missing-build"

    def __init__(
        self,
        spec: ModuleSpec,
        recipe: Recipe,
        passed_over: Iterable[str] = (),
        remotes: Iterable[str] = (),
    ) -> None:
        """Make the error; `remotes` says of each remote that was asked why it did not help."""
        asked = "".join(f"; {reason}" for reason in remotes)
        super().__init__(
            f"{spec.name} is in no store as recipe {recipe.key}, and "
            f"{settings.DISABLE_JIT.name} forbids to compile it{asked}{_listed(passed_over)}",
            f"fictl build {spec.name.rpartition('.')[2]} makes it where compiling is allowed",
        )
        self.spec = spec


class NotLocked(MissingBuild):
    """A lock file is in force, and no store has a build that it names."""

    def __init__(
        self,
        spec: ModuleSpec,
        recipe: Recipe,
        lock: Locked,
        passed_over: Iterable[str] = (),
        remotes: Iterable[str] = (),
    ) -> None:
        super().__init__(spec, recipe)
        why, self.hint = lock.why()
        self.message = "; ".join((why, *remotes)) + _listed(passed_over)


def _listed(passed_over: Iterable[str]) -> str:
    those = "".join(f"\n  {one}" for one in passed_over)
    return f"; there are builds that do not fit:{those}" if those else ""


@dataclass(frozen=True)
class Need:
    """Requirements on a build's architectures: exact targets, or GPUs that it must run on.

    With `exact` the build has these targets and no others, as one that is to be shipped.
    `cuda` is the newest CUDA that the driver of the GPUs runs, or 0.
    """

    targets: tuple[Arch, ...] = ()
    gpus: tuple[Arch, ...] = ()
    exact: bool = False
    cuda: int = 0

    def met_by(self, archs: tuple[Arch, ...]) -> bool:
        runs = all(any(arch.runs_on(gpu) for arch in archs) for gpu in self.gpus)
        targets, built = set(self.targets), set(archs)
        return runs and (targets == built if self.exact else targets <= built)


@dataclass(frozen=True)
class Lookup:
    """One query to the stores, with all data needed to ask it, and its answer.

    `compilers` is None if nothing may or can compile: then a build of any toolchain matches.
    `locked` is set if a lock file decides which builds match.
    """

    spec: ModuleSpec
    recipe: Recipe
    compilers: Compilers | None
    need: Need
    targets: Targets | None = None
    entry: Entry | None = None
    locked: Locked | None = None

    def stored(self) -> Entry | None:
        """Search the stores now; return the newest valid build that meets the need."""
        identity, searched = self._identity(), []
        for store in map(self._hashing, stores()):
            fits = self._fitting(None if store.prebuilt else identity)
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

    def unfit(self, entry: Entry) -> str:
        """Say why a build that another machine made does not answer the query; '' if it does."""
        return self._unfit(entry, self._identity())

    def answered(self) -> Lookup:
        """Return this lookup with the stores' answer in `entry`."""
        return replace(self, entry=self.stored())

    @property
    def compiles(self) -> bool:
        """True if a build would have to compile."""
        return self.entry is None and self.compilers is not None

    def require_compilers(self, remotes: Iterable[str] = ()) -> tuple[Compilers, Targets]:
        """Return what a build needs, or raise the error that says why nothing compiles here."""
        if self.locked:
            raise NotLocked(self.spec, self.recipe, self.locked, self.passed_over(), remotes)
        if settings.DISABLE_JIT.get():
            raise MissingBuild(self.spec, self.recipe, self.passed_over(), remotes)
        compilers = self.compilers or require_compilers(self.recipe.device)
        assert self.targets is not None
        return compilers, self.targets

    def passed_over(self) -> Iterator[str]:
        """Yield each build of this recipe that does not fit, with the reason."""
        for store in stores():
            for entry in store.entries(self.spec.project, self.spec.name, self.recipe.key):
                identity = None if store.prebuilt else self._identity()
                if reason := self._unfit(entry, identity):
                    yield f"{entry.path}: {reason}"

    def _identity(self) -> dict[str, str] | None:
        """Return the toolchain that a build must have; None if any will do."""
        return self.compilers.identity(self.recipe.libraries) if self.compilers else None

    def _hashing(self, store: Store) -> Store:
        """Return the store with its files hashed if a lock decides, which promises bytes."""
        return replace(store, hashed=True) if self.locked else store

    def _fitting(self, identity: dict[str, str] | None) -> Callable[[Entry], bool]:
        def fits(entry: Entry) -> bool:
            reason = self._unfit(entry, identity)
            if reason:
                logger().debug("%s is passed over: %s", entry.path, reason)
            return not reason

        return fits

    def _unfit(self, entry: Entry, identity: dict[str, str] | None) -> str:
        if self.locked and not self.locked.allows(entry.manifest):
            return f"{self.locked.path} does not name its bytes"
        return _unfit(entry, self.need, identity)


def look_up(spec: ModuleSpec, archs: tuple[Arch, ...] = (), exact: bool = False) -> Lookup:
    """Look up a build for `archs`, or for the targets of environment and GPUs; builds nothing.

    If nothing can compile, any build that runs will do.
    """
    spec = spec.aimed_at(archs)
    recipe = recipe_of(spec)
    lock = locked(spec, recipe)
    compilers = _usable_compilers(recipe, lock)
    if compilers is not None:
        targets = compilers.targets(spec, archs)
        need = Need(targets=targets.archs, exact=exact)
        return Lookup(spec, recipe, compilers, need, targets).answered()
    if exact and recipe.device == "cuda":
        targets = cuda_targets(spec, archs, None)
        return _nearest_to(Lookup(spec, recipe, None, Need(), targets, locked=lock))
    need = Need(targets=archs) if archs else need_to_run(spec)
    return Lookup(spec, recipe, None, need, locked=lock).answered()


def look_up_to_run(spec: ModuleSpec) -> Lookup:
    """Look for a build that runs on this machine's GPUs."""
    recipe = recipe_of(spec)
    lock = locked(spec, recipe)
    compilers = _usable_compilers(recipe, lock)
    return Lookup(spec, recipe, compilers, need_to_run(spec), locked=lock).answered()


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
    return Need(gpus=covered or supported or gpus, cuda=probe().cuda)


def _usable_compilers(recipe: Recipe, lock: Locked | None) -> Compilers | None:
    return None if lock or settings.DISABLE_JIT.get() else find_compilers(recipe.device)


def _nearest_to(lookup: Lookup) -> Lookup:
    """Take the build for exactly the lookup's targets, else one that covers them."""
    assert lookup.targets is not None
    archs = lookup.targets.archs
    exactly = replace(lookup, need=Need(archs, exact=True)).answered()
    return exactly if exactly.entry else replace(lookup, need=Need(archs)).answered()


def _unfit(entry: Entry, need: Need, identity: dict[str, str] | None) -> str:
    """Say why a build does not answer a query; '' if it does."""
    manifest = entry.manifest
    if identity is not None and not identity.items() <= manifest.toolchain.items():
        return "other compilers built it"
    if manifest.ffi_abi != ffi_abi():
        return f"it speaks the ABI of tvm-ffi {manifest.ffi_abi}, here is {ffi_abi()}"
    if not need.met_by(entry.archs):
        return f"it was built for {spell(entry.archs) or 'no architecture'}"
    if need.cuda and manifest.device == "cuda" and manifest.cudart > need.cuda:
        return f"it is of CUDA {manifest.cudart}, and the driver runs CUDA {need.cuda}"
    runs = need.gpus and manifest.device == "cuda"
    if runs and (why := cuda_runtime.lacking(manifest.cudart, entry.module)):
        return why
    # Older versions of fictl did not measure it, and left paths of the machine in their builds.
    if need.exact and identity is not None and not manifest.platform:
        return "its platform is not known"
    return this_platform.unfit(manifest.platform)
