"""How `fictl build --time` shows a measurement."""

from __future__ import annotations

from rich.console import Console

from fictl.cli.build_time import show_time
from fictl.jit.build_time.last_edit import LastEdit
from fictl.jit.build_time.phases import Phase
from fictl.jit.build_time.report import BuildTime, Header, KernelTime

_PHASES = (
    Phase("launcher.cu", "cicc", 1.0, "8.0"),
    Phase("launcher.cu", "cicc", 2.0, "9.0a"),
    Phase("launcher.cu", "preprocess", 0.5),
    Phase("launcher.cu", "fatbinary", 0.001),
    Phase("", "link", 0.5),
)
_HEADERS = (
    Header("launcher.cu", "cuda_bf16.h", "op.cuh", 4202, 0.5, "front end"),
    Header("launcher.cu", "nothing.h", "op.cuh", 1, 0.0001, "front end"),
)


def _shown(
    edit: LastEdit | None = None,
    kernels: tuple[KernelTime, ...] = (),
    headers: tuple[Header, ...] = _HEADERS,
) -> list[str]:
    out = Console(width=200)
    with out.capture() as captured:
        show_time(out, BuildTime(4.0, _PHASES, headers, kernels, edit))
    return [line.strip() for line in captured.get().splitlines() if line.strip()]


def test_a_step_that_runs_for_each_target_is_one_line() -> None:
    (line,) = [line for line in _shown() if "cicc  " in line]
    assert line.startswith("3.00 s  75%  ███████████████ ")
    assert line.endswith("8.0 1.00  9.0a 2.00")


def test_what_takes_no_time_takes_no_line() -> None:
    lines = "\n".join(_shown())
    assert "fatbinary" not in lines
    assert "nothing.h" not in lines


def test_a_header_is_shown_with_the_one_that_includes_it() -> None:
    assert "0.50 s    4,202  cuda_bf16.h  from op.cuh" in _shown()


def test_a_unit_whose_headers_cost_nothing_has_no_table_of_them() -> None:
    assert [line for line in _shown() if line.startswith("headers of launcher.cu")]
    assert not [line for line in _shown(headers=_HEADERS[1:]) if line.startswith("headers of")]


def test_kernels_are_shown_where_they_are_known() -> None:
    assert not [line for line in _shown() if line.startswith("kernels")]
    lines = _shown(kernels=(KernelTime("launcher.cu", "scale<float>", 0.25),))
    assert "0.25 s  scale<float>" in lines


def test_the_last_edit_is_compared_with_a_cold_build() -> None:
    edit = LastEdit(1.0, ("<my/norm/op.cuh>", "launcher.cu"), {"launcher.cu": 0.75}, 0.25, 1.0)
    lines = _shown(edit)
    assert "last edit: op.cuh, launcher.cu  1.00 s, 25% of cold" in lines
    assert lines[-2:] == ["0.75 s  launcher.cu", "0.25 s  link"]


def test_before_the_first_edit_there_is_none() -> None:
    assert _shown()[-1] == "last edit: none yet"
