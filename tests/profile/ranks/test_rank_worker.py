"""The recording of one rank: the records of one process, between two readings of its clock."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fictl.bench.options import BenchOptions
from fictl.case.messages import CaseRequest
from fictl.case.one_case import CaseCall
from fictl.child.codec import from_text
from fictl.errors import FictlError, NotOnDevice, SetupError
from fictl.profile.cupti import recording as recordings
from fictl.profile.cupti.work import BETWEEN
from fictl.profile.ranks import rank_worker
from fictl.profile.ranks.messages import RankRecording, RanksCase
from fictl.project import find
from fictl.ranks.rank import Rank
from fictl.ranks.team import in_words
from fictl.timing.rotation import Rotation

from ..cupti.conftest import StandInCupti, cupti  # noqa: F401  # a fixture

pytestmark = pytest.mark.usefixtures("ranked")


class AloneTeam:
    """The exchanges of a rank whose peer always agrees."""

    here = Rank(1, 2, 1)

    def everyone(self, value: Any) -> list[Any]:
        return [value, value]

    def attempt(self, call: Any) -> tuple[None, str]:
        try:
            call()
        except FictlError as error:
            return None, f"rank 1: {in_words(error)}"
        return None, ""


def asked(device: str, case: str = "gathering-1x256-float32") -> RanksCase:
    (folder,) = find("gathering")
    request = CaseRequest(folder.op, ("gathering",), BenchOptions(case=case).of_cases, 2)
    return RanksCase(request, device, Path.cwd())


@pytest.fixture
def stand_in(
    monkeypatch: pytest.MonkeyPatch,
    cupti: StandInCupti,  # noqa: F811
) -> StandInCupti:
    """A GPU whose barrier is a kernel, too."""
    monkeypatch.setattr(cupti, "get_timestamp", lambda: cupti.now, raising=False)
    monkeypatch.setattr(recordings, "WARM_UP_SECONDS", 0.0)
    turn = Rotation("gathering", (cupti.launch,), cold=True)
    monkeypatch.setattr(rank_worker, "rotations", lambda *sides, **more: [turn])
    monkeypatch.setattr(rank_worker, "together", lambda device: cupti.launch)
    monkeypatch.setattr(rank_worker, "_own_state", lambda: None)
    monkeypatch.setattr(rank_worker, "device_fault", lambda: None)
    return cupti


def call() -> CaseCall:
    return rank_worker._chosen(asked("emu").case, AloneTeam.here, "emu")


def test_a_rank_has_the_sizes_of_all_and_inputs_of_its_own() -> None:
    chosen = call()
    assert str(chosen.case) == "gathering-2x256-float32"
    first = rank_worker._chosen(asked("emu").case, Rank(0, 2, 0), "emu")
    mine, its = (one.trial.workload.inputs(0)["x"] for one in (chosen, first))
    assert not mine.equal(its)


def test_the_barrier_is_recorded_and_of_no_call(stand_in: StandInCupti) -> None:
    rank_worker._recorded(call(), asked("cuda"), AloneTeam())  # type: ignore[arg-type]
    recorded = from_text(RankRecording, Path("rank1.json").read_text(encoding="utf-8"))
    assert [work.call for work in recorded.kernels] == [BETWEEN, 0, BETWEEN, 1]
    assert recorded.summary.calls == 2
    assert recorded.clock.begin.own <= recorded.kernels[0].start
    assert recorded.kernels[-1].end <= recorded.clock.end.own


def test_what_a_machine_cannot_do_stays_an_error_of_its_kind(stand_in: StandInCupti) -> None:
    stand_in.refuses = "ERROR_INSUFFICIENT_PRIVILEGES"
    with pytest.raises(SetupError, match="rank 1: CUPTI refuses") as caught:
        rank_worker._recorded(call(), asked("cuda"), AloneTeam())  # type: ignore[arg-type]
    assert "--cap-add=SYS_ADMIN" in caught.value.hint
    assert not Path("rank1.json").exists()


def test_an_op_for_another_device_says_so() -> None:
    op = Path("kernels/comm/planted/op.py")
    text = op.read_text(encoding="utf-8").replace('devices="cuda emu"', 'devices="emu"')
    op.write_text(text, encoding="utf-8")
    with pytest.raises(NotOnDevice, match="is for emu, not for cuda"):
        rank_worker._chosen(asked("cuda").case, AloneTeam.here, "cuda")
