"""Build many modules at once: all cores are busy, and one failure does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from fictl import settings
from fictl.arch import Arch
from fictl.errors import FictlError
from fictl.jit.build import BuildOutcome, ensure
from fictl.jit.jobs import fitting, usable_cores
from fictl.jit.lookup import find
from fictl.jit.module_spec import ModuleSpec
from fictl.jit.progress import BuildObserver, LogObserver
from fictl.jit.remote import remotes
from fictl.jit.remote.answer import Pulled
from fictl.process import stop_all


def build_jit_specs(
    specs: Iterable[ModuleSpec], verbose: bool = False, skip_prebuilt: bool = True
) -> None:
    """Build all specs; `skip_prebuilt` leaves out those that a store already has."""
    wanted = list(specs)
    results = build_all(
        wanted, (), LogObserver(verbose or settings.JIT_VERBOSE.get()), skip_prebuilt
    )
    failures = [error for error in results if isinstance(error, FictlError)]
    if failures:
        listed = "\n".join(error.message for error in failures)
        raise FictlError(
            f"{len(failures)} of {len(wanted)} modules do not build:\n{listed}", failures[0].hint
        )


def build_all(
    specs: Sequence[ModuleSpec],
    archs: tuple[Arch, ...],
    observer: BuildObserver,
    any_build: bool = False,
    exact: bool = False,
    on_end: Callable[[BuildOutcome | FictlError], None] = lambda _: None,
) -> list[BuildOutcome | FictlError]:
    """Build all specs; return the outcome or the error of each, in order.

    `on_end` gets each as it ends, from the thread that built it.

    `any_build` accepts any build that runs on this machine; `exact` refuses one with more targets.
    """
    limit = settings.MAX_JOBS.get()
    width = limit or min(usable_cores(), max(1, fitting()))
    workers = max(1, min(width, len(specs)))

    answers = _prefetched(specs, archs, exact)

    def one(spec: ModuleSpec, answer: Pulled | None) -> BuildOutcome | FictlError:
        outcome = attempted(spec, answer)
        on_end(outcome)
        return outcome

    def attempted(spec: ModuleSpec, answer: Pulled | None) -> BuildOutcome | FictlError:
        try:
            entry = find(spec) if any_build else None
            if entry:
                return BuildOutcome(entry, compiled=False)
            cores = max(1, width // workers)
            asked = answer.reasons if answer and answer.asked else None
            outcome = ensure(spec, archs, observer, cores=cores, exact=exact, asked=asked)
            return replace(outcome, why=answer.why) if answer and answer.why else outcome
        except FictlError as error:
            return error

    with ThreadPoolExecutor(workers) as pool:
        try:
            return list(pool.map(one, specs, answers))
        except BaseException:
            # Ctrl-C arrives in this thread, not in the threads that wait for compilers.
            pool.shutdown(wait=False, cancel_futures=True)
            stop_all()
            raise


def _prefetched(
    specs: Sequence[ModuleSpec], archs: tuple[Arch, ...], exact: bool
) -> list[Pulled | None]:
    """Ask the remotes for all specs at once; None where there is no answer."""
    if not remotes.are_set():
        return [None] * len(specs)
    from fictl.jit.prefetch import prefetch  # Only here: it imports clients and keys.

    answers = prefetch(specs, archs, exact)
    return [None if isinstance(answer, FictlError) else answer for answer in answers]
