"""Benches of several places: each row keeps its place and its clocks."""

from __future__ import annotations

from typing import Any

from fictl.bench.result import BenchReport, Environment
from fictl.bench.row import Row
from fictl.farm.spread.command_job import CommandJob, CommandResult
from fictl.farm.spread.merged import benches, differing_clocks


def result(place: str, mhz: int, op: str = "one", gpu: str = "NVIDIA H200") -> CommandResult:
    state: dict[str, Any] = {"name": gpu, "sm_mhz": mhz, "max_sm_mhz": 1980, "mem_mhz": 3201}
    environment = Environment(
        "cuda", "now", "0.1.0", "3f2a", "3.11", before=state, after=state, ceilings={"copy": 4e12}
    )
    row = Row(f"p/f/{op}", op, "fictl", f"{op}-1", {"n": 1}, "float32", samples=(1e-5,))
    report = BenchReport(environment, (row,))
    return CommandResult(CommandJob(op, ("bench", op)), place, report.to_dict())


def test_a_row_keeps_the_clocks_of_the_run_that_measured_it() -> None:
    (one,) = benches([result("gpu1", 1980), result("gpu1", 1410, "two")])
    rows = one.to_dict()["rows"]
    assert [(row["place"], row["clocks"]["sm_mhz"]) for row in rows] == [
        ("gpu1", 1980),
        ("gpu1", 1410),
    ]
    assert rows[0]["clocks"] == {
        "sm_mhz": 1980,
        "max_sm_mhz": 1980,
        "mem_mhz": 3201,
        "throttled": None,
        "ceilings": {"copy": 4e12},
    }


def test_places_whose_clocks_differ_are_named() -> None:
    places = benches([result("gpu1", 1980), result("gpu2", 1200), result("a1", 1410, gpu="A100")])
    assert differing_clocks(places) == "NVIDIA H200: gpu1 at 1980 MHz, gpu2 at 1200 MHz"
    assert differing_clocks(benches([result("gpu1", 1980), result("gpu2", 1965)])) == ""
