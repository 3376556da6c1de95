from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

from fictl.bench.export import write_csv, write_jsonl
from fictl.bench.result import BenchReport
from fictl.bench.row import Row


def test_columns_are_unique_and_cells_are_quoted(
    make_report: Callable[..., BenchReport], make_row: Callable[..., Row], tmp_path: Path
) -> None:
    rows = [make_row(note='a, "b"'), make_row(sizes={"rows": 2, "op": 3}, case="x")]
    write_csv(make_report(*rows), tmp_path / "new" / "r.csv")
    with (tmp_path / "new" / "r.csv").open(newline="", encoding="utf-8") as file:
        header, first, second = csv.reader(file)
    assert len(set(header)) == len(header)
    cells = dict(zip(header, first, strict=True))
    assert (cells["note"], cells["axis.n"], cells["gpu"]) == ('a, "b"', "64", "NVIDIA H200")
    assert dict(zip(header, second, strict=True))["axis.op"] == "3"


def test_a_line_of_jsonl_stands_alone(
    make_report: Callable[..., BenchReport], tmp_path: Path
) -> None:
    write_jsonl(make_report(), tmp_path / "r.jsonl")
    (line,) = (tmp_path / "r.jsonl").read_text(encoding="utf-8").splitlines()
    said = json.loads(line)
    assert (said["schema"], said["environment"]["torch"], said["samples"][0]) == (
        "fictl.bench/1",
        "2.13",
        1e-5,
    )
