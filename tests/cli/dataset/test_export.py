"""Ops as a dataset, and the way round: written, checked, run, told."""

from __future__ import annotations

import pytest


def test_all_that_is_shipped_is_a_dataset_without_an_error(fictl, tmp_path) -> None:
    root = str(tmp_path / "data")
    words = ("--no-solutions", "--max-elements", "4096")
    answer = fictl("dataset", "export", "--out", root, *words, "--json")
    data = answer.document["data"]
    assert (answer.code, data["solutions"]) == (0, 0)
    assert data["definitions"] > 150
    assert data["workloads"] > data["definitions"]
    checked = fictl("dataset", "validate", root, "--checks", "layout,definition,workload")
    assert checked.code == 0, checked.out


def test_the_way_round(fictl, stray) -> None:
    answer = fictl("dataset", "export", "shift", "--out", "data")
    said = "1 definition · 1 workload · 0 files of tensors · 1 solution in "
    assert answer.out.startswith(f"{said}data\n")
    assert fictl("dataset", "validate", "data").code == 0
    quick = ("--warmup-runs", "1", "--iterations", "2", "--num-trials", "1")
    ran = fictl("dataset", "run", "data", "--device", "emu", *quick, "--strict")
    assert ran.code == 0, ran.out + ran.err
    assert ran.out.startswith("1 PASSED")
    told = fictl("dataset", "report", "data", "--json").document
    assert "fictl_shift_i32" in str(told["data"])
    assert fictl("dataset", "validate", "data").code == 0


def test_to_look_writes_nothing(fictl, stray) -> None:
    answer = fictl("dataset", "export", "shift", "--out", "data", "--dry-run")
    assert answer.code == 0
    assert "would be written" in answer.out
    assert not (stray / "data").exists()


@pytest.mark.parametrize("words", [("--max-elements", "-1"), ("no_such_op",)])
def test_what_makes_no_sense_is_refused(fictl, stray, words) -> None:
    assert fictl("dataset", "export", *words).code == 2
