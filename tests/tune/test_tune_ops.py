"""What `fictl tune` does: every key measured, and a file that the next process uses."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.op.tactics import recorded
from fictl.op.tactics.machine import Machine, machine
from fictl.op.tactics.records import read
from fictl.tune.file import merge
from fictl.tune.plan import plan
from fictl.tune.tune_ops import tune


def test_every_key_is_measured_and_written(tuned_project: Path) -> None:
    told = []
    tuning = tune(plan(["twice"]), done=told.append)
    assert told == list(tuning.outcomes)
    assert [each.entry and each.entry.winner for each in tuning.outcomes] == [1, 1]
    assert tuning.file == recorded.default_path(machine())
    document = read(tuning.file)
    assert document is not None
    assert document.ops["tiny.ops.twice"].keys.keys() == {each.key for each in tuning.outcomes}
    assert "13 is unlucky" in document.to_json()


def test_what_was_tuned_before_is_measured_again(tuned_project: Path) -> None:
    for _ in range(2):
        assert len(tune(plan(["twice"], dtype="f16")).outcomes) == 1


def test_emulated_times_are_called_that(tuned_project: Path) -> None:
    (note,) = tune(plan(["twice"], dtype="f16")).notes
    assert "times of the host" in note


def test_a_file_of_another_machine_is_not_written(tuned_project: Path, tmp_path: Path) -> None:
    path = tmp_path / "theirs.json"
    merge(path, Machine("NVIDIA B200", "580"), {})
    with pytest.raises(UsageError, match="stays as it is"):
        tune(plan(["twice"], dtype="f16"), path)
