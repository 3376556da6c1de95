"""Measurement of one case on one of its ranks; all ranks make the same calls in the same order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fictl.bench.options import BenchOptions
from fictl.bench.row import FAILED, SKIPPED, TIMED, WRONG, Row
from fictl.bench.worker.disturbance import Disturbance
from fictl.bench.worker.measuring import Place, checked, row_of, unsuitable, with_samples, with_work
from fictl.bench.worker.ranks.ranked import RankedCase
from fictl.bench.worker.ranks.rounds import time_rounds
from fictl.bench.worker.ranks.trial import RankTrial, RankWorkload
from fictl.case.ranks import seed_of
from fictl.case.trial import CaseTrial
from fictl.ranks.team import Team


def measure_ranks(
    ranked: RankedCase, options: BenchOptions, place: Place, team: Team
) -> Iterator[Row]:
    """Measure all sides, the op first; a side that is wrong on one rank is timed on none."""
    seed = seed_of(options.seed, team.here.rank)
    workload = RankWorkload(
        ranked.subject, ranked.case, place.device, seed, refcheck=options.refcheck
    )
    reason = unsuitable(ranked.subject, ranked.case, place)
    if reason:
        row = _row(workload, RankTrial(ranked.contenders[0], workload), ranked, team)
        yield row.refused(SKIPPED, reason)
        return
    fit: list[CaseTrial] = []
    refused: list[Row] = []
    for contender in ranked.contenders:
        trial = RankTrial(contender, workload, team=team)
        status, note = _checked(trial, team)
        if status == TIMED:
            fit.append(trial)
        else:
            refused.append(_row(workload, trial, ranked, team).refused(status, note))
    if any(not trial.contender.is_baseline for trial in fit):
        rows = [_row(workload, trial, ranked, team) for trial in fit]
        yield from map(place.measured, _timed(rows, fit, options, place, team))
    yield from refused


def _checked(trial: CaseTrial, team: Team) -> tuple[str, str]:
    """Return the status and note of the first rank on which the side does not fit."""
    ranks = [tuple(one) for one in team.everyone(checked(trial))]
    if len({*ranks}) == 1:
        return ranks[0]
    bad = [(rank, *one) for rank, one in enumerate(ranks) if one[0] != TIMED]
    rank, status, note = next((one for one in bad if not _of_another(one[2])), bad[0])
    return status, note if _of_another(note) else f"rank {rank}: {note}"


def _of_another(note: str) -> bool:
    """Tell whether a rank says what another one has said."""
    return note.startswith("rank ")


def _timed(
    rows: Sequence[Row],
    trials: Sequence[CaseTrial],
    options: BenchOptions,
    place: Place,
    team: Team,
) -> Iterator[Row]:
    disturbance = Disturbance(trials, place.observer)
    samples, problem = team.attempt(
        lambda: time_rounds(
            {trial.contender.name: trial.side for trial in trials},
            team,
            device=place.device,
            cold=options.cold,
            stop=options.stop,
            progress=disturbance,
        )
    )
    if samples is None or problem:
        yield from (row.refused(FAILED, problem) for row in rows)
        return
    for row, trial in zip(rows, trials, strict=True):
        trial.keep_only(disturbance.index)
        yield _after(with_samples(row, samples[row.side]), trial, disturbance, options, team)


def _after(
    row: Row, trial: CaseTrial, disturbance: Disturbance, options: BenchOptions, team: Team
) -> Row:
    """Keep the times, or refuse them if the calls left wrong results on a rank."""
    problem, error = team.attempt(lambda: disturbance.problem(trial))
    if error:
        return row.refused(FAILED, error)
    wrong = team.first(problem or "")
    if wrong:
        return row.refused(WRONG, f"its times do not count: after them, {wrong}")
    unchecked = trial.workload.subject.reason if options.refcheck else "not checked"
    note = " · ".join(filter(None, (row.note, unchecked)))
    off = max(team.everyone(trial.off))
    return replace(row, checked=trial.workload.refcheck, off=off, note=note)


def _row(workload: RankWorkload, trial: CaseTrial, ranked: RankedCase, team: Team) -> Row:
    return replace(
        with_work(row_of(workload, trial.contender), workload),
        ranks=team.here.size,
        collective=ranked.declared.collective,
        message=ranked.message,
    )
