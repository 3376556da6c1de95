from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from fictl.bench.observer import BenchObserver
from fictl.bench.options import BenchOptions
from fictl.bench.row import EMULATED, WRONG, Row
from fictl.bench.worker import source_file
from fictl.bench.worker.measuring import Place, measure_case
from fictl.bench.worker.source_file import assignments, source_subjects
from fictl.case.contender import own
from fictl.errors import InvalidValue, UsageError

TEXT = """// bench: out=8x4 x=8x4:float32
// bench: factor=2.0
#include <binding/launch.h>
void twice(const fictl::Launch& launch, fictl::View out, fictl::View x, double factor) {
}
"""


class Module:
    """What the file would be built to."""

    @staticmethod
    def twice(out: torch.Tensor, x: torch.Tensor, factor: float) -> None:
        torch.mul(x, factor, out=out)

    @staticmethod
    def partly(out: torch.Tensor, x: torch.Tensor, factor: float) -> None:
        out[0].copy_(x[0] * factor)

    @staticmethod
    def nothing(out: torch.Tensor, x: torch.Tensor, factor: float) -> None:
        """Writes nothing."""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    def write(text: str = TEXT, name: str = "my kernel.cu") -> Path:
        monkeypatch.setattr(source_file, "load_inline", lambda name, cuda: Module)
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def rows(path: Path, **values: str) -> list[Row]:
    options = BenchOptions(rounds=5)
    place = Place("cpu", {}, BenchObserver())
    return [
        row
        for subject, case in source_subjects(path, values)
        for row in measure_case(subject, case, [own(subject)], options, place)
    ]


def test_the_comment_of_a_file_says_what_its_launcher_takes(file: Callable[..., Path]) -> None:
    (row,) = rows(file())
    assert (row.op, row.case, row.status) == ("my kernel.cu", "twice-8x4-float32", EMULATED)
    assert (row.bytes, row.checked) == (256, False)
    assert row.note == "there is no reference: not checked"


def test_what_is_said_on_the_command_line_goes_first(file: Callable[..., Path]) -> None:
    (row,) = rows(file(), out="2x2:bf16", x="2x2:bf16")
    assert (row.case, row.bytes) == ("twice-2x2-bfloat16", 16)


def test_tensors_of_other_shapes_have_axes_of_their_own(file: Callable[..., Path]) -> None:
    ((_, case),) = source_subjects(file(), {"x": "4"})
    assert str(case) == "twice-8x4x4-float32"


def test_what_writes_nothing_is_caught_without_a_reference(file: Callable[..., Path]) -> None:
    (row,) = rows(file(TEXT.replace("twice", "nothing")))
    assert (row.status, row.note) == (WRONG, "not timed: it wrote nothing to out")


def test_what_is_left_unwritten_is_counted(file: Callable[..., Path]) -> None:
    (row,) = rows(file(TEXT.replace("twice", "partly")))
    assert row.note == "not timed: it left 28 of 32 elements of out unwritten"


def test_a_parameter_that_nothing_describes_is_named(file: Callable[..., Path]) -> None:
    with pytest.raises(UsageError, match="nothing says what x, factor of twice is"):
        source_subjects(file(TEXT.replace("x=8x4:float32", "").replace("factor=2.0", "out=4")), {})


def test_a_value_of_no_parameter_is_named(file: Callable[..., Path]) -> None:
    with pytest.raises(UsageError, match="has a parameter y"):
        source_subjects(file(), {"y": "3"})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"x": "8xq"}, "'8xq' is not a tensor"),
        ({"x": "8x"}, "'8x' is not a tensor"),
        ({"x": "8:f17"}, "unknown dtype 'f17'"),
        ({"factor": "two"}, "'two' is not a number"),
        ({"factor": "'2'"}, "is not a number"),
    ],
)
def test_a_value_that_cannot_be_read_is_quoted(
    file: Callable[..., Path], values: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidValue, match=message):
        source_subjects(file(), values)


@pytest.mark.parametrize("text", ["x", "x=", "=4", "1x=3"])
def test_what_assigns_nothing_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match="gives nothing a value"):
        assignments([text])


def test_a_file_without_a_launcher_is_refused(file: Callable[..., Path]) -> None:
    with pytest.raises(UsageError, match="no launcher is defined"):
        source_subjects(file("int main() {}"), {})


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        source_subjects(tmp_path / "none.cu", {})
