"""Compilers of places that build together."""

from __future__ import annotations

import pytest

from fictl.child.lost import NotStarted
from fictl.farm.compilers import compilers_here, difference
from fictl.farm.line import PROTOCOL, Ready
from fictl.farm.opening import OpenPlace
from fictl.farm.place import Place
from fictl.farm.spread.command_job import CommandJob
from fictl.farm.spread.toolchains import CompilerChoice

GCC, CLANG = {"cxx": "gcc 12", "nvcc": "13.0"}, {"cxx": "clang 14", "nvcc": "13.0"}
JOBS = [CommandJob("one", ()), CommandJob("two", ())]


def opened(name: str, toolchain: dict[str, str]) -> OpenPlace:
    return OpenPlace(
        Place(name, labels=("mine",)),
        ready=Ready(PROTOCOL, "0", "3", "", toolchain=toolchain),
    )


def test_this_machine_names_its_compilers_without_paths() -> None:
    here = compilers_here("emu")
    assert {"platform", "tvm-ffi", "cxx"} <= {*here}
    assert not any("/" in value for value in here.values())
    assert difference(here, here) == ""


def test_the_first_difference_is_named_harmlessly() -> None:
    assert difference(GCC, CLANG) == "cxx is clang 14 there, and gcc 12 here"
    assert difference(GCC, {**GCC, "cccl": "3"}) == "cccl is 3 there, and none here"
    assert "\x1b" not in difference(GCC, {**GCC, "\x1b[2J": "\x1b]0;title\x07"})


def test_places_that_differ_from_here_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fictl.farm.spread.toolchains.compilers_here", lambda device: GCC)
    places, jobs = CompilerChoice("cuda").matched(
        [opened("a", GCC), opened("b", CLANG), opened("c", {})], JOBS
    )
    assert [bool(one.problem) for one in places] == [False, True, True]
    assert "its compilers differ from those here: cxx is clang 14" in places[1].why
    assert "--toolchain any" in places[1].why
    assert "it has no compilers" in places[2].why
    assert jobs == JOBS


def test_without_compilers_here_the_first_place_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fictl.farm.spread.toolchains.compilers_here", lambda device: {})
    broken = OpenPlace(Place("x"), problem=NotStarted("gone"))
    places, _ = CompilerChoice("cuda").matched(
        [broken, opened("a", CLANG), opened("b", GCC), opened("c", CLANG)], JOBS
    )
    assert [bool(one.problem) for one in places] == [True, False, True, False]
    assert "differ from those at a: cxx is gcc 12 there, and clang 14 at a" in places[2].why


def test_any_makes_a_job_for_each_kind_of_compilers() -> None:
    places, jobs = CompilerChoice("cuda", are_any=True).matched(
        [opened("a", GCC), opened("b", CLANG), opened("c", GCC), opened("d", {})], JOBS
    )
    assert [bool(one.problem) for one in places] == [False, False, False, True]
    kinds = {job.kind for job in jobs}
    assert (len(jobs), len(kinds)) == (4, 2)
    at = [{kind for kind in kinds if one.place.is_a(kind)} for one in places[:3]]
    assert at[0] == at[2] != at[1]
    assert places[0].place.is_a("mine")
