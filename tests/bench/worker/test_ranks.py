"""Communication ops benched by two ranks with gloo: what is timed, and what is refused."""

from __future__ import annotations

import pytest

from fictl.bench.bench_ops import bench
from fictl.bench.options import BenchOptions
from fictl.bench.result import BenchReport
from fictl.bench.row import EMULATED, FAILED, WRONG, Row
from fictl.errors import UsageError

pytestmark = pytest.mark.usefixtures("ranked")


def measured(*ops: str, **options: object) -> BenchReport:
    asked = {"rounds": 8, "max_seconds": 1.0, "gpus": 2, "case": "256", **options}
    return bench(ops, BenchOptions(**asked))  # type: ignore[arg-type]


def test_rows_of_what_two_ranks_do_together() -> None:
    report = measured("right", "gathering", "wrong", "unwritten", "failing", baselines=("all",))
    rows = {(row.function, row.side): row for row in report.rows}
    statuses = {name: row.status for name, row in rows.items()}
    assert statuses == {
        ("right", "fictl"): EMULATED,
        ("right", "torch"): EMULATED,
        ("right", "halved"): WRONG,
        ("gathering", "fictl"): EMULATED,
        ("wrong", "fictl"): WRONG,
        ("unwritten", "fictl"): WRONG,
        ("failing", "fictl"): FAILED,
    }
    _is_timed(rows["right", "fictl"], "all_reduce", 256 * 4, 1.0)
    _is_timed(rows["gathering", "fictl"], "all_gather", 2 * 256 * 4, 0.5)
    assert rows["gathering", "fictl"].sizes == {"ranks": 2, "n": 256}
    assert rows["wrong", "fictl"].note.startswith("rank 1: not timed: out: 256 of 256")
    assert rows["unwritten", "fictl"].note == "rank 1: not timed: it wrote nothing to out"
    assert rows["failing", "fictl"].note == "rank 1: ValueError: planted"
    assert "not timed: out: 256 of 256" in rows["right", "halved"].note
    assert report.environment.warnings == ("emulated: these are times of the host, not of a GPU",)
    assert report.exit_code == 1


def _is_timed(row: Row, collective: str, message: int, factor: float) -> None:
    assert (row.ranks, row.collective, row.message) == (2, collective, message)
    assert (row.timer, row.checked, len(row.samples)) == ("host", True, 8)
    assert row.median is not None
    assert row.algbw == pytest.approx(message / row.median / 1e9)
    assert row.busbw == pytest.approx(message / row.median / 1e9 * factor)


def test_a_rank_that_does_not_come_is_named() -> None:
    (row,) = measured("absent").rows
    assert (row.status, row.note) == (
        FAILED,
        "rank 1 did not call all_reduce #1: it has called none, it waits for the others",
    )


def test_a_rank_that_dies_is_named() -> None:
    (row,) = measured("dying").rows
    assert row.status == FAILED
    assert row.note.startswith("rank 1 ended with SIGKILL")


def test_an_op_of_one_process_is_not_benched_by_ranks(hostile) -> None:
    with pytest.raises(UsageError, match=r"is called by one process; ranks\(\) in its bench.py"):
        measured(str(hostile))


def test_an_op_of_ranks_is_not_benched_by_one_process() -> None:
    with pytest.raises(UsageError, match=r"is called by several ranks; fictl bench .* --gpus 2"):
        measured("right", gpus=0)


@pytest.mark.parametrize(
    ("options", "why"),
    [({"power": True}, "energy"), ({"timer": "cupti"}, "timed by events")],
)
def test_what_has_no_meaning_for_ranks_is_refused(options: dict[str, object], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        measured("right", **options)
