"""Measurement of one case: check the sides, time them interleaved, check again; a row for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fictl.bench.observer import BenchObserver
from fictl.bench.options import BenchOptions
from fictl.bench.row import EMULATED, FAILED, SKIPPED, TIMED, WRONG, Row
from fictl.bench.worker.disturbance import Disturbance
from fictl.bench.worker.energy import with_energy
from fictl.bench.worker.host_time import time_host, time_plan
from fictl.case.contender import Contender
from fictl.case.subject import Subject
from fictl.case.trial import CaseTrial, Prepared
from fictl.case.workload import TrialWorkload
from fictl.emu.device import MOST_ELEMENTS
from fictl.errors import FictlError, NotOnDevice, SetupError
from fictl.op import BackendRefused
from fictl.timing.samples import Samples
from fictl.timing.timer import TooShort
from fictl.trace import Case


@dataclass(frozen=True)
class Place:
    """Device of a measurement, as torch names it, and the ceilings measured there."""

    device: str
    ceilings: Mapping[str, float]
    observer: BenchObserver

    @property
    def is_emulated(self) -> bool:
        return self.device == "cpu"

    def measured(self, row: Row) -> Row:
        """Mark the times of the emulated device: they are not those of a GPU."""
        is_of_host = self.is_emulated and row.status == TIMED
        return replace(row, status=EMULATED) if is_of_host else row


def measure_case(
    subject: Subject,
    case: Case,
    contenders: Sequence[Contender],
    options: BenchOptions,
    place: Place,
) -> Iterator[Row]:
    """Measure all sides, the op first; if the op is wrong, nothing is timed."""
    workload = TrialWorkload(subject, case, place.device, options.seed, refcheck=options.refcheck)
    reason = unsuitable(subject, case, place)
    if reason:
        yield replace(row_of(workload, contenders[0]), status=SKIPPED, note=reason)
        return
    fit: list[CaseTrial] = []
    refused: list[Row] = []
    for contender in contenders:
        trial = CaseTrial(contender, workload)
        status, note = checked(trial)
        if status == TIMED:
            fit.append(trial)
        else:
            refused.append(replace(row_of(workload, contender), status=status, note=note))
    if any(not trial.contender.is_baseline for trial in fit):
        yield from map(place.measured, _timed(workload, fit, options, place))
    yield from refused


def unsuitable(subject: Subject, case: Case, place: Place) -> str:
    wanted = "emu" if place.is_emulated else "cuda"
    if wanted not in subject.devices:
        return f"it is for {' '.join(subject.devices)}, not for {wanted}"
    elements = subject.template.elements(case.sizes, case.passing)
    if place.is_emulated and elements > MOST_ELEMENTS:
        return "too large for the emulated device"
    return ""


def checked(trial: CaseTrial) -> tuple[str, str]:
    """Call a trial once on the first copy, before timing, and return its status and note."""
    try:
        problem = trial.attempt(0)
    except (BackendRefused, NotOnDevice) as error:
        return SKIPPED, error.message
    except ImportError as error:
        if trial.contender.is_baseline:
            return SKIPPED, f"not installed: {error}"
        return FAILED, repr(error)
    except Exception as error:
        return FAILED, in_words(error)
    return (WRONG, f"not timed: {problem}") if problem else (TIMED, "")


def _timed(
    workload: TrialWorkload, trials: list[CaseTrial], options: BenchOptions, place: Place
) -> Iterator[Row]:
    rows = [with_work(row_of(workload, trial.contender), workload) for trial in trials]
    disturbance = Disturbance(trials, place.observer)
    try:
        samples = _samples(trials, options, place, disturbance)
    except Exception as error:
        of_this_machine = isinstance(error, SetupError) and not isinstance(error, TooShort)
        if of_this_machine and options.timer != "auto":
            raise
        others = [row for row in rows if row.is_baseline]
        yield from (row.refused(FAILED, in_words(error)) for row in others or rows)
        if others:  # One of them may have caused it.
            ours = [trial for trial in trials if not trial.contender.is_baseline]
            yield from _timed(workload, ours, options, place)
        return
    rows = [with_samples(row, samples[row.side]).against(place.ceilings) for row in rows]
    if options.power:
        rows = with_energy(rows, trials, place.device, cold=options.cold)
    workload.keep_only(disturbance.index)
    for trial in trials:
        trial.keep_only(disturbance.index)
    for row, trial in zip(rows, trials, strict=True):
        yield _after(row, trial, disturbance, options)
        if workload.subject.has_plan and not trial.contender.is_baseline:
            yield _plan(
                row_of(workload, trial.contender),
                trial.copy(disturbance.index),
                options,
                place.device,
            )


def _samples(
    trials: Sequence[CaseTrial], options: BenchOptions, place: Place, disturbance: Disturbance
) -> dict[str, Samples]:
    from fictl.timing.measure import measure

    return measure(
        {trial.contender.name: trial.side for trial in trials},
        timer="auto" if place.is_emulated else options.timer,
        device=place.device,
        cold=options.cold,
        stop=options.stop,
        progress=disturbance,
    )


def _after(row: Row, trial: CaseTrial, disturbance: Disturbance, options: BenchOptions) -> Row:
    """Keep the times, or refuse them if the calls left wrong results."""
    workload = trial.workload
    try:
        problem = disturbance.problem(trial)
        if problem:
            return row.refused(WRONG, f"its times do not count: after them, {problem}")
        host = time_host(trial.copy(disturbance.index), workload.device) if options.host else None
    except Exception as error:
        return row.refused(FAILED, in_words(error))
    unchecked = workload.subject.reason if options.refcheck else "not checked"
    note = " · ".join(filter(None, (row.note, unchecked)))
    return replace(row, checked=workload.refcheck, off=trial.off, host_seconds=host, note=note)


def _plan(row: Row, prepared: Prepared, options: BenchOptions, device: str) -> Row:
    plan = replace(row, step="plan")
    try:
        return with_samples(plan, time_plan(prepared, device, options.stop))
    except Exception as error:
        return plan.refused(FAILED, in_words(error))


def row_of(workload: TrialWorkload, contender: Contender) -> Row:
    subject, case = workload.subject, workload.case
    return Row(
        subject.op,
        subject.function,
        contender.name,
        str(case),
        dict(case.sizes),
        case.dtype,
        case.manner,
        backend=contender.backend,
        is_baseline=contender.is_baseline,
        key="" if contender.is_baseline else subject.key,
    )


def with_work(row: Row, workload: TrialWorkload) -> Row:
    return replace(
        row, bytes=workload.bytes, flops=workload.flops, working_set=workload.working_set
    )


def with_samples(row: Row, samples: Samples) -> Row:
    return replace(
        row,
        timer=samples.timer,
        cold=samples.cold,
        copies=samples.copies,
        samples=samples.seconds,
        kernels=samples.kernels,
        note=samples.why,
    )


def in_words(error: Exception) -> str:
    if isinstance(error, FictlError):
        return error.message
    return f"{type(error).__name__}: {error}".strip().partition("\n")[0]
