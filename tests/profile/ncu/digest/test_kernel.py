"""The digest of a report: kernels grouped, ordered by their time, with lines and rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fictl.profile.ncu.digest.kernel import digests
from fictl.profile.ncu.launch import parse_launches
from fictl.profile.ncu.rule import parse_rules
from fictl.profile.ncu.source import Line


def test_a_recorded_report_is_told_in_words(recorded) -> None:
    launches = parse_launches(recorded("raw.csv"))
    rms, scale = digests(launches, parse_rules(recorded("details.csv")), {})
    assert rms.name == "norm::RMSNormKernel<__nv_bfloat16, __nv_bfloat16, 8, 0, 2, 1>"
    assert (rms.launches, scale.launches) == (2, 1)
    assert rms.share + scale.share == pytest.approx(100)
    text = {remark.topic: remark.text for remark in reversed(rms.remarks)}
    assert text == {
        "bound by": "memory: DRAM 81 % of its peak, 3.89 TB/s; L2 90 %; L1 and shared memory 33 % "
        "(compute 50 %)",
        "stall": "long scoreboard 57 %: waiting for data from global or local memory",
        "occupancy": "70 % of an SM's warps; the launch allows 75 %, limited by registers "
        "(40 a thread, blocks of 256)",
        "waves": "20.7 waves of blocks",
        "coalescing": "global loads use 32 of the 32 bytes of a sector, 16 sectors a request",
        "bank conflicts": "none to speak of in shared memory",
        "local memory": "none: no spills, no arrays in memory",
    }
    assert [rule.name for rule in rms.rules[:1]] == ["CPIStall"]


def test_a_recorded_report_of_few_blocks_is_bound_by_latency(recorded) -> None:
    (digest,) = digests(parse_launches(recorded("latency.raw.csv")), {}, {})
    text = {remark.topic: remark.text for remark in digest.remarks}
    assert text["bound by"].startswith("latency: memory 9 % and compute 4 %")
    assert text["waves"] == "144 blocks are 0.18 of a wave: 132 SMs have room for 792"
    assert "limited by registers (74 a thread, blocks of 128)" in text["occupancy"]


def test_a_recorded_report_of_spills_says_so(recorded) -> None:
    (digest,) = digests(parse_launches(recorded("spilling.raw.csv")), {}, {})
    (local,) = [remark for remark in digest.remarks if remark.topic == "local memory"]
    assert local.text == (
        "11.5 k instructions of warps access local memory; 11.5 k of their requests are spilled "
        "registers"
    )
    assert "smaller tiles" in local.advice


def test_of_launches_alike_the_one_with_the_median_time_is_told(launch) -> None:
    alike = [replace(launch(seconds=time), id=str(time)) for time in (3.0, 9.0, 1.0)]
    (digest,) = digests(alike, {}, {})
    assert (digest.launch.seconds, digest.launches) == (3.0, 3)


def test_another_grid_is_another_digest_and_a_small_share_is_minor(launch) -> None:
    small, large = launch(grid=(1,), seconds=1e-6), launch(grid=(9,), seconds=1e-3)
    first, second = digests([small, large], {}, {})
    assert (first.launch, second.launch) == (large, small)
    assert (first.is_minor, second.is_minor) == (False, True)


def test_lines_are_found_by_the_functions_name_and_order(launch) -> None:
    one, two = launch(seconds=1.0), replace(launch(grid=(2,), seconds=2.0), id="1")

    def lines(*samples: int) -> tuple[Line, ...]:
        return tuple(Line("k.cuh", n, "", count, {}) for n, count in enumerate(samples))

    for function in (one.kernel, "void a::Kernel<8>(float *)"):
        sources = {"void a::Other()": [lines(1)], function: [lines(90, 10), lines(97, 3)]}
        second, first = digests([one, two], {}, sources)
        assert [round(hot.share) for hot in first.lines] == [90, 10]
        assert [round(hot.share) for hot in second.lines] == [97]


def test_without_times_nothing_is_minor(launch) -> None:
    (digest,) = digests([launch()], {}, {})
    assert not digest.is_minor
    assert digest.to_dict()["seconds"] is None
