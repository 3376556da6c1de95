"""What kernels recorded, as people read it."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from fictl.cli._profile.events_view import show
from fictl.profile.events.recording import Happened, Kernel, Recording, Warp
from fictl.profile.events.result import EventsResult


def warp(block: int, sm: int, begin: float, length: float, lost: int = 0) -> Warp:
    """Of 1 us: an instant after 10 ns, then a `load`."""
    events = (
        Happened("started", begin + 10, None),
        Happened("load", begin + 20, begin + 20 + length),
    )
    return Warp(block, 0, sm, begin, begin + 1000, events, lost)


@pytest.fixture
def shown(capsys):
    def lines(kernel: Kernel, device: str = "NVIDIA H200") -> list[str]:
        recording = Recording((kernel,), 1000 / 1980, 32)
        result = EventsResult("p/f/op", "op-8", device, 16, recording, Path("out/op-8.events.json"))
        show(Console(width=400, highlight=False), result)
        return capsys.readouterr().out.splitlines()

    return lines


def test_a_table_of_events_and_how_the_sms_were_busy(shown) -> None:
    warps = (warp(0, 0, 0, 100), warp(2, 0, 1000, 200), warp(1, 1, 50, 300))
    assert shown(Kernel("k[8]", 3, 1, 1, 1, warps)) == [
        "  op-8 · H200 · events · 1980 MHz · SMs compared to 32 ns",
        "",
        "k[8]  2.00 us · 3 blocks · 3 warps",
        "event    count  at     median  5 %     95 %    max     share",
        "started  3      10 ns",
        "load     3      20 ns  200 ns  110 ns  290 ns  300 ns  20.0 %",
        "  2 SMs · 1 to 2 blocks each · first begin 0 ns to 50 ns · last end 1.05 us to 2.00 us, "
        "median 1.52 us · tail 950 ns, 48 %",
        "",
        "  wrote out/op-8.events.json, for ui.perfetto.dev",
    ]


def test_of_a_part_of_the_blocks_it_is_said_what_shows_more(shown) -> None:
    lines = shown(Kernel("k", 64, 1, 1, 1, (warp(0, 0, 0, 100), warp(7, 1, 50, 100))))
    assert lines[2] == "k  1.05 us · 2 of 64 blocks · 2 warps"
    assert lines[6] == "  --blocks all shows how evenly the SMs are busy"


def test_emulated_times_are_said_to_mean_nothing(shown) -> None:
    lines = shown(Kernel("k", 1, 1, 4, 1, (warp(0, 0, 0, 100),)), device="")
    assert lines[0] == "  op-8 · emulated: these times say nothing of a GPU's"
    assert lines[2] == "k  1.00 us · 1 block · 1 group of 4 warps"


def test_what_was_lost_is_said(shown) -> None:
    lines = shown(Kernel("k", 1, 1, 1, 1, (warp(0, 0, 0, 100, lost=3),)))
    assert lines[-3].startswith("  ! k: 3 events of 1 warps found no room behind 16 each")


def test_launches_of_one_kernel_have_numbers(shown) -> None:
    lines = shown(Kernel("k", 1, 1, 1, 3, (warp(0, 0, 0, 100),), launch=2))
    assert lines[2] == "k  launch 2 of 3 · 1.00 us · 1 block · 1 warp"
