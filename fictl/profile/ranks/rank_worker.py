"""Record a case in one of its ranks: see fictl.profile.ranks.run_ranks.

Every rank runs this program, with the recording of one process (fictl.profile.cupti.recording), and
writes a file; the first one reports.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

from fictl import settings
from fictl.case.contender import own
from fictl.case.device_fault import device_fault
from fictl.case.messages import CaseRequest
from fictl.case.one_case import CaseCall
from fictl.case.ranks import declared_ranks, for_ranks, seed_of
from fictl.case.selection import selected_cases
from fictl.case.trial import CaseTrial
from fictl.case.workload import TrialWorkload
from fictl.child.codec import to_text
from fictl.child.message import Done, Failed, send
from fictl.child.program import request_in
from fictl.errors import FictlError, NotOnDevice, UsageError
from fictl.profile.cupti.profile import Profile
from fictl.profile.cupti.recorder import Recorder
from fictl.profile.cupti.recording import WorkRecorder, record_calls, warm_up
from fictl.profile.cupti.work import Copy, EmulatedCall, Kernel
from fictl.profile.ranks.clocks import RankClock, read_clock
from fictl.profile.ranks.emulated import EmulatedRecorder
from fictl.profile.ranks.messages import RankRecording, RanksCase, of_rank
from fictl.profile.ranks.together import together
from fictl.project import OpFolder
from fictl.ranks.group import watched_group
from fictl.ranks.hung import RankHung
from fictl.ranks.rank import Rank, meeting_point
from fictl.ranks.team import Team, in_words
from fictl.ranks.witness import LATER_SECONDS
from fictl.timing.gpu_state import GpuState, gpu_state
from fictl.timing.rotation import Rotation, rotations


def main(arguments: Sequence[str]) -> int:
    asked, here = request_in(arguments, RanksCase), Rank.here()
    # What one rank says of a wrong request, all would say.
    say = send if here.rank == 0 else _nothing
    try:
        call = _chosen(asked.case, here, asked.device)
        store = meeting_point(here, settings.RANK_TIMEOUT.get() + LATER_SECONDS)
        with watched_group(here, store, lambda verdict: send(RankHung(verdict.text))) as witness:
            _recorded(call, asked, Team(here, store, witness))
    except FictlError as error:
        say(Failed.of(error))
    else:
        say(Done())
    return 0  # A rank that ends with another code is named as the cause.


def _chosen(request: CaseRequest, here: Rank, device: str) -> CaseCall:
    """Return the one case of the request, with the sizes and the inputs of this rank."""
    folder = OpFolder.of(request.op)
    subject, case = next(
        (subject, case)
        for subject, case in selected_cases(folder, request.functions, request.options)
        if str(case) == request.options.case
    )
    if device not in subject.devices:
        raise NotOnDevice(f"{folder} is for {' '.join(subject.devices)}, not for {device}")
    declared = declared_ranks(folder.load("bench"), case.function)
    if declared is None:
        raise UsageError(f"{case.function} is called by one process", "leave out --gpus")
    ranked = for_ranks(case, declared, here.size)
    place = "cpu" if device == "emu" else device
    workload = TrialWorkload(subject, ranked, place, seed_of(request.options.seed, here.rank))
    return CaseCall(folder, ranked, CaseTrial(own(subject), workload))


def _recorded(call: CaseCall, asked: RanksCase, team: Team) -> None:
    """Record on every rank, and leave the file; raise the first error that any rank has."""
    raised: list[FictlError] = []

    def record() -> None:
        try:
            _leave(_recording(call, asked, team), asked, team)
        except FictlError as error:
            raised.append(error)
            raise

    _, problem = team.attempt(record)
    if device_fault() is not None:
        os._exit(1)  # The others wait for this rank: its end is said in its name.
    if not problem:
        return
    mine = f"rank {team.here.rank}: "
    if raised and problem == mine + in_words(raised[0]):
        raise of_rank(team.here.rank, raised[0])
    raise FictlError(problem, "fictl test checks the op")


def _leave(recording: RankRecording, asked: RanksCase, team: Team) -> None:
    asked.file(team.here.rank).write_text(to_text(recording), encoding="utf-8")


def _recording(call: CaseCall, asked: RanksCase, team: Team) -> RankRecording:
    is_emulated = asked.device == "emu"
    turn = _rotation(call, asked, team)
    recorder: WorkRecorder = EmulatedRecorder(call.case.function) if is_emulated else Recorder()
    warm_up(turn, recorder, lambda seconds: max(team.everyone(seconds)))
    with recorder:
        begin = read_clock(recorder.now)
        team.everyone("begin")
        profile = record_calls(turn, asked.case.calls, recorder)
        clock = RankClock(begin, read_clock(recorder.now))
    return _of(profile, turn, clock, is_emulated)


def _rotation(call: CaseCall, asked: RanksCase, team: Team) -> Rotation:
    """Make the calls; before each the ranks meet, behind what makes L2 cold."""
    device, cold = ("cpu" if asked.device == "emu" else "cuda"), asked.case.options.cold
    sides = {str(call.case): call.trial.side}
    (turn,) = rotations(sides, device, cold=cold, agree=lambda n: min(team.everyone(n)))
    return replace(turn, flush=_both(turn.flush, together(device)))


def _both(flush: Callable[[], object] | None, meet: Callable[[], object]) -> Callable[[], object]:
    def before() -> None:
        if flush is not None:
            flush()
        meet()

    return before


def _of(profile: Profile, turn: Rotation, clock: RankClock, is_emulated: bool) -> RankRecording:
    state = None if is_emulated else _own_state()
    summary = replace(profile.summary, sm_mhz=state.sm_mhz if state else None, cold=turn.cold)
    return RankRecording(
        summary,
        clock,
        tuple(entry for entry in profile.work if isinstance(entry, Kernel)),
        tuple(entry for entry in profile.work if isinstance(entry, Copy)),
        tuple(entry for entry in profile.work if isinstance(entry, EmulatedCall)),
        tuple(profile.api),
    )


def _own_state() -> GpuState | None:
    import torch

    return gpu_state(torch.cuda.current_device())


def _nothing(message: object) -> None:
    """Leave it to the first rank."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
