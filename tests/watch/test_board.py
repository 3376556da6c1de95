"""How times of one save stand against those of others."""

from __future__ import annotations

import random
from typing import Any

from fictl.bench.row import SKIPPED, Row
from fictl.timing.verdict import Verdict
from fictl.watch.board import Board


def row(microseconds: float, **more: Any) -> Row:
    noise = random.Random(1)
    samples = tuple(microseconds * 1e-6 * noise.gauss(1, 0.002) for _ in range(100))
    known = {"side": "fictl", "case": "scale-16-float32", **more}
    return Row("p/f/scale", "scale", sizes={}, dtype="float32", samples=samples, **known)


def test_a_case_stands_against_the_save_before_and_the_best() -> None:
    board = Board()
    (first,) = board.take([row(50)], 0, 0.0)
    (slower,) = board.take([row(60)], 1, 60.0)
    (faster,) = board.take([row(40)], 3, 120.0)
    assert (first.before, first.against, first.is_faster_than_ever) == (None, None, False)
    assert (slower.verdict, slower.before, slower.best) == (Verdict.SLOWER, first.now, first.now)
    assert (faster.verdict, faster.before) == (Verdict.FASTER, slower.now)
    assert faster.is_faster_than_ever
    assert board.best() == {"scale-16-float32": faster.now}


def test_noise_is_a_tie_and_no_record() -> None:
    board = Board()
    board.take([row(50)], 0, 0.0)
    (again,) = board.take([row(49.9)], 1, 0.0)
    assert (again.verdict, again.is_faster_than_ever) == (Verdict.SAME, False)
    assert again.best is again.now


def test_only_what_is_ours_and_was_timed_counts() -> None:
    board = Board()
    rows = [
        row(1, is_baseline=True, side="torch"),
        row(1, status=SKIPPED),
        row(1, side="sm90"),
        row(2, step="plan"),
    ]
    assert [each.label for each in board.take(rows, 0, 0.0)] == [
        "scale-16-float32 sm90",
        "scale-16-float32 plan",
    ]


def test_the_document_has_what_a_line_says() -> None:
    board = Board()
    board.take([row(50)], 0, 0.0)
    (found,) = board.take([row(60)], 1, 0.0)
    said = found.to_dict()
    assert said["case"] == "scale-16-float32"
    assert said["verdict"] == "SLOWER"
    assert round(said["ratio"], 2) == 1.2
    assert said["best"] < said["median"]
