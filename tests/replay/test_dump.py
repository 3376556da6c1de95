"""Dump: found in folders, in the order of the calls, and refused where it is not what it seems."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from fictl.errors import UsageError
from fictl.op.watch.dump.record import METADATA, Refused
from fictl.replay.dump import Dump, find_dumps


def test_a_dump_knows_its_op(dump) -> None:
    found = Dump.open(dump(torch.ones(3)))
    assert (found.record.op, found.name, str(found.folder())) == (
        "toy.ops.halve",
        "halve",
        "toy/few/halve",
    )


def test_a_folder_of_dumps_is_in_the_order_of_the_calls(tmp_path: Path) -> None:
    names = [
        "20260101_000000_pid9_b_call0009",
        "20260101_000000_pid9_a_call0010",
        "20260101_000000_pid9_a_call10000",
        "20260101_000001_pid9_a_call0011",
    ]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / METADATA).touch()
    (tmp_path / "notes").mkdir()
    assert [path.name for path in find_dumps([tmp_path])] == names
    assert find_dumps([tmp_path / names[2]]) == [tmp_path / names[2]]


def test_a_folder_that_is_no_dump_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a dump, and has none in it"):
        find_dumps([tmp_path])
    with pytest.raises(UsageError, match="is not a folder"):
        find_dumps([tmp_path / "nowhere"])


@pytest.mark.parametrize(
    ("op", "said", "hint"),
    [
        ("toy.ops.halv", "there is no op 'toy.ops.halv'", "did you mean 'halve'?"),
        ("other.ops.halve", "there is no project 'other' here", "in the project's folder"),
        ("os.ops.system", "there is no project 'os' here", ""),
        ("toy.ops.__doc__", "there is no op", ""),
        ("toy.few.halve.op.halve", "is not the name of an op", ""),
        ("../../toy.ops.halve", "is not the name of an op", ""),
    ],
)
def test_an_op_that_nobody_knows_is_refused(dump, edit, op: str, said: str, hint: str) -> None:
    path = dump(torch.ones(3))
    edit(path, op=op)
    with pytest.raises(Refused, match=said) as caught:
        Dump.open(path).folder()
    assert hint in caught.value.hint


def test_a_file_outside_is_refused(dump, edit) -> None:
    path = dump(torch.ones(3))
    edit(path, inputs={"file": "../../secret.safetensors", "size": 1, "tensors": {}})
    with pytest.raises(Refused, match="a dump has only"):
        Dump.open(path)


def test_metadata_that_is_a_link_to_elsewhere_is_refused(dump, tmp_path: Path) -> None:
    path = dump(torch.ones(3))
    (path / METADATA).rename(tmp_path / "elsewhere")
    (path / METADATA).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refused, match="a link that leaves its folder"):
        Dump.open(path)


def test_outputs_that_are_gone_are_told(dump) -> None:
    path = dump(torch.ones(3))
    (path / "outputs.safetensors").unlink()
    with pytest.raises(Refused, match=r"has no outputs\.safetensors"):
        Dump.open(path)
