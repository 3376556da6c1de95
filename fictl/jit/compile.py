"""Execution of one plan: staging, ninja for the uncached units, manifest, publication."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from fictl import rooted
from fictl.errors import FictlError, SetupError
from fictl.jit import reproducible
from fictl.jit.cache.cause import BuildCause, cause_of_build, write_cause
from fictl.jit.cache.changes import Wanted
from fictl.jit.commit import commit
from fictl.jit.diagnose import BuildFailed, Diagnosis, diagnose, ran_out_of_memory
from fictl.jit.emulated_runtime import link_runtime
from fictl.jit.gate.diagnosis import diagnosis
from fictl.jit.gate.findings import refusals
from fictl.jit.jobs import Parallelism, choose
from fictl.jit.ninja_file import ninja_text
from fictl.jit.plan import Plan, Unit
from fictl.jit.progress import BuildObserver, Started
from fictl.jit.recipe import recipe_of
from fictl.jit.render import render
from fictl.jit.store import objects, past_sources
from fictl.jit.store.entry import Entry
from fictl.jit.store.failure import FAILED, Failure
from fictl.jit.store.history import BuildHistory
from fictl.jit.store.staging import publish, staging_folder
from fictl.jit.store.stores import Store
from fictl.process import Finished, stream

_INTERRUPTED = "ninja: build stopped: interrupted by user"


class SourcesChanged(Exception):
    """An input was edited during the compile: the result belongs to neither version."""


def compile_plan(
    plan: Plan, store: Store, observer: BuildObserver, cores: int | None = None
) -> Entry:
    """Build and publish; return the published entry."""
    module_dir = store.module_dir(plan.spec.project, plan.spec.name)
    with staging_folder(module_dir) as staging:
        start = time.monotonic()
        cached = prepare(plan, staging, module_dir)
        history = BuildHistory.read(module_dir)
        missing = [unit for unit in plan.steps if unit.object not in cached]
        parallel = choose(
            len(missing),
            sum(unit.device for unit in missing),
            len(plan.targets.archs),
            history.peak_kib,
            cores,
        )
        log = _open_log(staging, module_dir)
        observer.started(_announcement(plan, log, cached, parallel, history))
        finished = _run(plan, staging, cached, parallel, observer)
        if recipe_of(plan.spec) != plan.recipe:
            raise SourcesChanged
        units = _unit_seconds(staging)
        refused = refusals(plan, staging)
        _keep_objects(set(missing) - refused.keys(), units, staging, module_dir)
        if finished.code != 0:
            raise kept_failure(plan, diagnose(finished.output), staging, module_dir)
        if refused:
            for unit in refused:  # Repeated by hand, ninja compiles it again.
                (staging / unit.object).unlink()
            why = diagnosis(plan, refused, staging)
            raise kept_failure(plan, why, staging, module_dir)
        seconds = time.monotonic() - start
        cause = _cause(plan, history)
        write_cause(staging, cause)
        commit(plan, staging, seconds, units, finished.peak_kib)
        past_sources.keep(store.root, plan.recipe.inputs, plan.recipe.paths)
        final = store.recipe_dir(plan.spec.project, plan.spec.name, plan.recipe.key)
        entry = publish(staging, final / plan.build_key)
        # Last, so that a build in the history is always published, or was removed.
        with suppress(OSError):
            history.with_build(units, finished.peak_kib).write(module_dir)
    observer.finished(plan.spec.name, seconds, cause.summary)
    return entry


def _cause(plan: Plan, history: BuildHistory) -> BuildCause:
    now = Wanted(plan.recipe, plan.identity, plan.targets.archs, plan.cudart)
    built_before = bool(history.seconds)
    return cause_of_build(plan.spec.project, plan.spec.name, now, built_before)


def prepare(plan: Plan, staging: Path, module_dir: Path | None = None) -> set[str]:
    """Render sources and fetch cached objects; return the objects that need no compile."""
    (staging / "src").mkdir(parents=True, exist_ok=True)
    if plan.spec.template:
        render(plan.spec.template, staging / "src")
    if plan.runtime:
        link_runtime(staging, plan.runtime)
    if module_dir is None:
        return set()
    kept = module_dir / "objects"
    return {unit.object for unit in plan.steps if objects.fetch(kept, unit, staging)}


def generate(plan: Plan, folder: Path) -> float:
    """Write the generated sources, as ninja does first in a build; return the seconds it took."""
    if plan.generated is None:
        return 0.0
    finished = stream(plan.generated.argv, lambda _: None, cwd=folder)
    if finished.code:
        raise FictlError(f"{plan.spec.name}: {diagnose(finished.output).first}")
    return finished.seconds


def ninja_binary() -> str:
    beside = Path(sys.executable).parent / "ninja"
    binary = str(beside) if os.path.isfile(beside) else shutil.which("ninja")
    if binary is None:
        raise SetupError(f"ninja is neither at {beside} nor on PATH", "pip install ninja")
    return binary


def _run(
    plan: Plan, staging: Path, cached: set[str], parallel: Parallelism, observer: BuildObserver
) -> Finished:
    finished = _ninja(plan, staging, cached, parallel, observer)
    alone = Parallelism(1, 1)
    if finished.code != 0 and ran_out_of_memory(finished.output) and parallel != alone:
        observer.note(f"{plan.spec.name}: a compiler was killed for memory; again with one job")
        finished = _ninja(plan, staging, cached, alone, observer)
    return finished


def _ninja(
    plan: Plan, staging: Path, cached: set[str], parallel: Parallelism, observer: BuildObserver
) -> Finished:
    text = ninja_text(plan, cached, parallel.nvcc_threads)
    (staging / "build.ninja").write_text(text, encoding="utf-8")
    total = len(plan.steps) - len(cached) + 1
    with (staging / "build.log").open("a", encoding="utf-8") as log:

        def on_line(line: str) -> None:
            log.write(line + "\n")
            log.flush()
            count, _, what = line.partition("] ")
            if count.startswith("[") and count[1:].isdigit():
                observer.advanced(int(count[1:]), total, what)
            observer.command(line)

        argv = [ninja_binary(), "-C", str(staging), "-j", str(parallel.jobs)]
        if observer.verbose:
            argv.append("-v")
        env = {"NINJA_STATUS": "[%f] ", **(reproducible.ENVIRONMENT if plan.places else {})}
        finished = stream(argv, on_line, env=env)
    if _INTERRUPTED in finished.output:
        # ninja got Ctrl-C before this process: not a failure to keep and to share.
        raise KeyboardInterrupt
    return finished


def _open_log(staging: Path, module_dir: Path) -> Path:
    """Return a second path of the log, which stays valid when the staging folder is renamed."""
    (staging / "build.log").touch()
    latest = module_dir / "latest.log"
    try:
        latest.unlink(missing_ok=True)
        os.link(staging / "build.log", latest)
    except OSError:  # Another build of the module was faster, or hard links are not supported.
        return staging / "build.log"
    return latest


def _announcement(
    plan: Plan, log: Path, cached: set[str], parallel: Parallelism, history: BuildHistory
) -> Started:
    missing = [unit.object for unit in plan.steps if unit.object not in cached]
    return Started(
        module=f"{plan.spec.project}/{plan.spec.name}",
        archs=" ".join(str(arch) for arch in plan.targets.archs),
        origin=plan.targets.origin,
        units=len(plan.steps),
        cached=len(cached),
        jobs=parallel.jobs,
        eta=history.estimate(missing, parallel.jobs),
        log=log,
    )


def _keep_objects(
    units: Iterable[Unit], seconds: dict[str, float], staging: Path, module_dir: Path
) -> None:
    """Keep the compiled objects, even if the build failed."""
    for unit in units:
        if unit.object in seconds:
            objects.keep(module_dir / "objects", unit, staging)


def kept_failure(plan: Plan, why: Diagnosis, staging: Path, module_dir: Path) -> BuildFailed:
    """Record the failure for waiting processes; return the error to raise."""
    failure = Failure.of(*plan.keys, why)
    failure.write(staging)
    _keep_failed(staging, module_dir)
    return failure.error(plan.spec.name, module_dir)


def _keep_failed(staging: Path, module_dir: Path) -> None:
    """Keep the failed build's folder, so that its log can be read and its ninja repeated."""
    failed = module_dir / FAILED
    while True:
        with suppress(OSError):
            rooted.remove(module_dir, failed)
        try:
            os.rename(staging, failed)
        except OSError as error:  # Two builds of one module failed at once.
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        else:
            return


def _unit_seconds(staging: Path) -> dict[str, float]:
    """Read the seconds of every object that ninja finished."""
    seconds: dict[str, float] = {}
    log = staging / ".ninja_log"
    if not os.path.isfile(log):
        return seconds
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        fields = line.split("\t")
        if len(fields) == 5:
            seconds[fields[3]] = (int(fields[1]) - int(fields[0])) / 1000
    return seconds
