"""Phases of a compile from nvcc's table and from three runs of a host compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.jit.build_time.phases import Phase, host_phases, nvcc_phases

_HEAD = "source file name , phase name , phase input files , phase output file , arch , tool, metric , unit"


def _row(source: str, phase: str, arch: str, milliseconds: float) -> str:
    return f"{source} , {phase} , /tmp/in  , /tmp/out , {arch} , nvcc , {milliseconds:.4f} , ms"


def _table(source: str = "/op/launcher.cu") -> str:
    rows = [
        ("g++ (preprocessing 4)", "", 280),
        ("cudafe++", "compute_90a", 600),
        ("g++ (preprocessing 1)", "compute_80", 220),
        ("cicc", "compute_80", 800),
        ("ptxas", "sm_80", 200),
        ("g++ (preprocessing 1)", "compute_90a", 200),
        ("cicc", "compute_90a", 500),
        ("ptxas", "sm_90a", 150),
        ("fatbinary", "", 10),
        ("g++ (compiling)", "compute_90a", 900),
    ]
    driver = " , nvcc (driver) ,  , l.o ,  , nvcc , 0.7588 , ms"
    return "\n".join([_HEAD, *(_row(source, *row) for row in rows), driver])


def test_a_table_is_read_by_what_a_phase_is_for_and_for_which_target() -> None:
    phases = nvcc_phases(_table(), Path("/op/launcher.cu"), wall=4.0)
    assert [(phase.name, phase.arch, round(phase.seconds, 3)) for phase in phases] == [
        ("host compiler", "", 0.9),
        ("cicc", "8.0", 0.8),
        ("preprocess", "", 0.7),
        ("cudafe++", "", 0.6),
        ("cicc", "9.0a", 0.5),
        ("ptxas", "8.0", 0.2),
        ("ptxas", "9.0a", 0.15),
        ("driver", "", 0.14),
        ("fatbinary", "", 0.01),
    ]
    assert {phase.unit for phase in phases} == {"launcher.cu"}


def test_phases_add_up_to_what_the_compile_took() -> None:
    phases = nvcc_phases(_table(), Path("/op/launcher.cu"), wall=4.0)
    assert sum(phase.seconds for phase in phases) == pytest.approx(4.0)


def test_a_comma_in_the_path_of_a_source_does_no_harm() -> None:
    source = "/my, op/a,b.cu"
    phases = nvcc_phases(_table(source), Path(source), wall=4.0)
    assert [phase.name for phase in phases][:2] == ["host compiler", "cicc"]


@pytest.mark.parametrize("table", ["", "nonsense", _HEAD])
def test_without_a_table_all_is_the_drivers(table: str) -> None:
    assert nvcc_phases(table, Path("a.cu"), 1.5) == [Phase("a.cu", "driver", 1.5)]


def test_a_host_unit_has_what_each_further_run_adds() -> None:
    phases = host_phases("b.cpp", preprocess=0.25, syntax=1.0, wall=1.5)
    assert [(phase.name, phase.seconds) for phase in phases] == [
        ("preprocess", 0.25),
        ("parse", 0.75),
        ("generate code", 0.5),
    ]


def test_no_phase_is_negative_where_clocks_jitter() -> None:
    assert host_phases("b.cpp", 0.02, 0.01, 0.005)[1].seconds == 0
