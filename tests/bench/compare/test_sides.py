"""Two sides of one run: what is asked of the benchmark, and which rows are compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fictl.bench.compare.outcome import Untimed
from fictl.bench.compare.sides import compare_in, compare_sides
from fictl.bench.options import BenchOptions
from fictl.bench.row import FAILED
from fictl.errors import UsageError

_OP = """
@op(dtypes="f16", mutates="out", backends={"sm80": ">=8.0", "sm90": "9.0a"})
def halve(input, out=None, backend="auto"):
    "Half of it."
"""


@pytest.fixture
def halve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project whose only op has two backends; the working folder is there."""
    folder = tmp_path / "kernels" / "elementwise" / "halve"
    folder.mkdir(parents=True)
    (folder / "op.py").write_text(_OP, encoding="utf-8")
    (tmp_path / "fictl.toml").write_text('name = "my_kernels"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, row, report) -> list[BenchOptions]:
    """What the benchmark was asked for; it finds sm80, sm90 and torch."""
    calls: list[BenchOptions] = []

    def bench(ops: Sequence[str], options: BenchOptions, observer: Any) -> Any:
        calls.append(options)
        rows = [row(20.0, side="sm80"), row(19.0, side="sm90"), row(30.0, side="torch")]
        return report(*rows, row(19.0))

    monkeypatch.setattr("fictl.bench.compare.sides.bench", bench)
    return calls


@pytest.mark.parametrize(
    ("a", "b", "backends", "baselines", "verdict"),
    [
        ("sm80", "sm90", ("sm80", "sm90"), (), "FASTER"),
        ("sm90", "sm80", ("sm90", "sm80"), (), "SLOWER"),
        ("fictl", "torch", (), ("torch",), "SLOWER"),
        ("sm90", "torch", ("sm90",), ("torch",), "SLOWER"),
    ],
)
def test_sides_are_timed_in_one_run(halve, asked, a, b, backends, baselines, verdict) -> None:
    found = compare_sides(["halve"], a, b, 0.01)
    assert found.counts == {verdict: 1}
    assert found.how == "interleaved in one run"
    (options,) = asked
    assert (options.backends, options.baselines) == (backends, baselines)


def test_the_chosen_backend_is_not_compared_with_a_backend(halve, asked) -> None:
    with pytest.raises(UsageError, match="whichever backend is chosen"):
        compare_sides(["halve"], "fictl", "sm90", 0.01)


def test_cases_that_only_one_side_has_are_listed(row, report) -> None:
    made = report(row(side="sm80"), row(side="sm80", case="x"), row(side="sm90"))
    assert compare_in(made, "sm80", "sm90", 0.01).only_a == ("x",)


def test_warnings_of_the_run_are_passed_on(row, report) -> None:
    made = report(row(), warnings=("the GPU slowed itself down: heat",))
    assert compare_in(made, "fictl", "torch", 0.01).notes == ("the GPU slowed itself down: heat",)


def test_a_hang_of_the_op_is_a_failure_of_both(row, report) -> None:
    hung = row(samples=(), status=FAILED, note="it did not end within 600 s")
    found = compare_in(report(hung), "sm80", "sm90", 0.01)
    assert found.untimed == (
        Untimed("halve-8-float16", "fictl", "it did not end within 600 s", True),
    )
    assert found.exit_code == 1


def test_a_third_side_is_not_asked_for(row, report) -> None:
    made = report(row(side="torch"), row(side="flashinfer"), row())
    found = compare_in(made, "torch", "flashinfer", 0.01)
    assert (found.untimed, found.counts) == ((), {"SAME": 1})
