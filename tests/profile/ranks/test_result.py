"""Findings of a profile of several ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.case.options import CaseOptions
from fictl.profile.ranks.result import RanksProfile
from fictl.profile.ranks.run_ranks import merged
from fictl.profile.request import ProfileRequest
from fictl.project import OpFolder

from .conftest import EPOCH, clock


@pytest.fixture
def profile(tiny: Path, recording):
    """The profile of ranks with these spans of each call, in microseconds."""
    folder = OpFolder.of(tiny / "kernels" / "elementwise" / "twice" / "op.py")

    def make(*ranks, clocks=None) -> RanksProfile:
        options = CaseOptions(case="sum-8-float32")
        asked = ProfileRequest(folder, frozenset({"sum"}), options, len(ranks[0]), ranks=len(ranks))
        its = clocks or [None] * len(ranks)
        recordings = [recording(*spans, its=own) for spans, own in zip(ranks, its, strict=True)]
        return merged(recordings, asked, tiny / "t.json")

    return make


def test_the_time_of_a_call_is_the_slowest_ranks(profile):
    result = profile([(0, 10), (50, 64)], [(4, 12), (50, 60)])
    assert result.seconds == pytest.approx((10e-6, 14e-6))
    assert next(result.remarks()) == "a call: 12.0 us on the slowest rank (10.0 us to 14.0 us in 2)"


def test_a_rank_for_which_the_others_wait_is_named(profile):
    result = profile([(0, 30), (50, 80)], [(20, 31), (70, 81)])
    assert (
        "rank 1 starts last in 2 of 2 calls, 20.0 us after the first; the others wait up to 19.0 us"
        in [*result.remarks()]
    )


def test_nobody_is_named_for_noise_or_in_half_of_the_calls(profile):
    for ranks in (
        ([(0, 30), (50, 80)], [(0.1, 30), (50.2, 80)]),
        ([(0, 30), (70, 81)], [(20, 31), (50, 80)]),
    ):
        assert not [remark for remark in profile(*ranks).remarks() if "starts last" in remark]


def test_an_end_before_a_start_is_told(profile):
    result = profile([(0, 10), (50, 60)], [(15, 25), (50, 60)])
    assert result.unordered == 1
    assert any(remark.startswith("in 1 of 2 calls a rank ended") for remark in result.remarks())


def test_clocks_are_one_or_converted(profile):
    spans = [(0, 10)]
    assert [*profile(spans, spans).remarks()][-1] == "clocks: one for all ranks, to 0.20 us"
    drifting = clock(EPOCH - 500_000)
    last = [*profile(spans, spans, clocks=[None, drifting]).remarks()][-1]
    assert last.startswith("clocks: they differ, by up to 500.0 us; times are by that of rank 0")


def test_json_has_every_call_of_each_rank(profile):
    document = profile([(0, 10), (50, 64)], [(4, 12), (51, 60)]).to_dict()
    assert (document["tool"], document["recorder"], document["calls"]) == ("ranks", "cupti", 2)
    assert document["clock"]["is_one"] is True
    first, second = document["ranks"]
    assert first["wait"] == pytest.approx([2e-6, 5e-6])
    assert second["skew"] == pytest.approx([4e-6, 1e-6])
    assert (first["slowest"], second["slowest"], second["starts_last"]) == (2, 0, 2)
    assert [row["name"] for row in document["kernels"]] == ["rank 0: sum", "rank 1: sum"]
