"""The digest of ncu as people read it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from fictl.cli._profile.ncu_view import show
from fictl.profile.ncu.digest.kernel import Digest, Hot
from fictl.profile.ncu.digest.remark import Remark
from fictl.profile.ncu.launch import Launch
from fictl.profile.ncu.report import NcuReport
from fictl.profile.ncu.rule import Rule
from fictl.profile.ncu.source import Line

LAUNCH = Launch(
    "0",
    "void a::K<8>(float*)",
    (64, 2, 1),
    (256, 1, 1),
    {"gpu__time_duration.sum": 62.75e-6, "launch__registers_per_thread": 40.0},
)
DIGEST = Digest(
    "a::K<8>",
    LAUNCH,
    1,
    100.0,
    (Remark("stall", "barrier 20 %", "fewer [of them]"), Remark("stall", "wait 9 %")),
    (Hot(Line("/x/k.cuh", 7, "a[i] = b;", 70, {"long_sb": 60}), 70.0),),
    (Rule("R", "Do this. And that.", 19.07, False), Rule("S", "Or so.", 5.0, True)),
)


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]):
    def of(*digests: Digest, notes: tuple[str, ...] = ()) -> list[str]:
        pages = (Path("out/k.ncu.raw.csv"), Path("out/k.ncu.source.csv"))
        report = NcuReport(
            "p/a/k", "k-8", "2025.3.1", "set full", Path("out/k.ncu-rep"), pages, digests, notes
        )
        show(Console(width=400, highlight=False), report)
        return capsys.readouterr().out.splitlines()

    return of


def test_a_kernel_is_a_paragraph(shown) -> None:
    assert shown(DIGEST, notes=("clocks were left alone",)) == [
        "  k-8 · ncu 2025.3.1 · set full",
        "",
        "a::K<8>  62.75 us · grid 64x2 · block 256 · 40 registers",
        "  stall           barrier 20 %",
        "                  → fewer [of them]",
        "                  wait 9 %",
        "  source          k.cuh:7  70 % of samples, long scoreboard:  a[i] = b;",
        "  ncu's rules     R, up to 19 %: Do this.",
        "                  S, up to 5 % of that part: Or so.",
        "",
        "  · clocks were left alone",
        "  wrote out/k.ncu-rep and .ncu.raw.csv, .ncu.source.csv",
    ]


def test_a_minor_kernel_is_a_line(shown) -> None:
    lines = shown(DIGEST, replace(DIGEST, name="small", share=0.4, launches=3))
    assert lines[-3] == (
        "small  62.75 us · 3 launches, under 1 % of the time · grid 64x2 · block 256 · 40 registers"
    )


def test_what_was_not_collected_is_left_out(shown) -> None:
    bare = Digest("k", replace(LAUNCH, metrics={}, grid=(1, 1, 1)), 1, 100.0, (), (), ())
    assert shown(bare)[2] == "k  grid 1 · block 256"
