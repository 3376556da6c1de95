"""Benchmark of a communication op on one of its ranks: see fictl.bench.bench_ops.

Every rank runs this program; the first one reports.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from fictl import settings
from fictl.bench.messages import (
    CasesCounted,
    CaseStarted,
    GpuAfter,
    GpuBefore,
    RanksAfter,
    RanksRequest,
    RowMeasured,
    VersionsFound,
    Warned,
)
from fictl.bench.observer import BenchObserver
from fictl.bench.worker.measuring import Place
from fictl.bench.worker.ranks.measuring import measure_ranks
from fictl.bench.worker.ranks.ranked import RankedCase, ranked
from fictl.bench.worker.respond import RoundSender
from fictl.bench.worker.sides import missing_baselines
from fictl.case.device_fault import device_fault
from fictl.case.selection import NoCase
from fictl.child.codec import from_json
from fictl.child.message import Done, Failed, send
from fictl.child.program import request_in
from fictl.errors import FictlError
from fictl.project import OpFolder
from fictl.ranks.group import watched_group
from fictl.ranks.hung import RankHung
from fictl.ranks.rank import Rank, meeting_point
from fictl.ranks.team import Team
from fictl.ranks.witness import LATER_SECONDS
from fictl.timing.gpu_state import GpuState, gpu_state


def main(arguments: Sequence[str]) -> int:
    request, here = request_in(arguments, RanksRequest), Rank.here()
    # What one rank says of a wrong request, all would say.
    say = send if here.rank == 0 else _nothing
    try:
        work = _work(request, say)
        store = meeting_point(here, settings.RANK_TIMEOUT.get() + LATER_SECONDS)
        with watched_group(here, store, lambda verdict: send(RankHung(verdict.text))) as witness:
            _measure(work, request, Team(here, store, witness), say)
    except NoCase as error:
        say(Warned(f"{error.message}; {error.hint}"))
        say(Done())
    except FictlError as error:
        say(Failed.of(error))
    return 0


def _work(request: RanksRequest, say: Any) -> list[RankedCase]:
    folder = OpFolder.of(request.op)
    for name in missing_baselines(folder, {*request.functions}, request.options):
        say(Warned(f"{folder} has no baseline {name!r}"))
    return [*ranked(folder, request.functions, request.options)]


def _measure(work: Sequence[RankedCase], request: RanksRequest, team: Team, say: Any) -> None:
    import torch

    is_emulated = request.device == "emu"
    say(CasesCounted(len(work)))
    say(VersionsFound(torch.__version__, torch.version.cuda or ""))
    if not is_emulated and team.leads:
        say(GpuBefore({}, _own_state()))
    observer = RoundSender() if team.leads else BenchObserver()
    place = Place("cpu" if is_emulated else "cuda", {}, observer)
    for ranked_case in work:
        case = ranked_case.case
        say(CaseStarted(case.function, str(case), dict(case.sizes), case.dtype, (*case.manner,)))
        for row in measure_ranks(ranked_case, request.options, place, team):
            say(RowMeasured(row))
        if not is_emulated and device_fault() is not None:
            os._exit(1)  # The others wait for this rank: its end is said in its name.
    if not is_emulated:
        _say_states(team, say)
    say(Done())


def _say_states(team: Team, say: Any) -> None:
    state = _own_state()
    states = team.everyone(asdict(state) if state is not None else None)
    say(GpuAfter(state))
    say(RanksAfter(tuple(from_json(GpuState, one) if one else None for one in states)))


def _own_state() -> GpuState | None:
    import torch

    return gpu_state(torch.cuda.current_device())


def _nothing(message: object) -> None:
    """Leave it to the first rank."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
