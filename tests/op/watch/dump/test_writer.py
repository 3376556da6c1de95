"""DumpWriter: inputs are on disk before the call runs, outputs after, and no trouble is the user's."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from fictl.op.watch.dump.limits import Limits
from fictl.op.watch.dump.record import Record


def test_a_call_leaves_a_folder_that_names_time_process_op_and_call(dumped, dumps) -> None:
    dumped()(torch.ones(4))
    (folder,) = dumps()
    assert re.fullmatch(r"\d{8}_\d{6}_pid\d+_halve_call\d{4,}", folder.name)
    assert sorted(path.name for path in folder.iterdir()) == [
        "inputs.safetensors",
        "metadata.jsonl",
        "outputs.safetensors",
    ]


def test_the_record_says_what_was_called_and_with_what(dumped, dumps, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    monkeypatch.setenv("RANK", "3")
    dumped()(torch.ones(4), out=torch.zeros(4))
    record = Record.read(dumps()[0])
    assert (record.op, record.module) == ("toy.ops.halve", "toy.few.halve.op")
    assert (record.status, record.rank, record.gpu) == ("completed", "3", "")
    assert record.settings == {"FICTL_DEVICE": "emu"}
    assert record.arguments["input"] == {"tensor": "input"}
    assert record.inputs.tensors["input"].shape == (4,)
    assert record.versions["torch"] == torch.__version__
    assert record.signature.startswith("(input: ")


def test_inputs_are_on_disk_while_the_call_runs(dumped, dumps) -> None:
    seen: list[Record] = []

    def look(input: Any) -> None:
        seen.append(Record.read(dumps()[0]))
        assert torch.equal(load_file(dumps()[0] / "inputs.safetensors")["input"], input)

    dumped(look)(torch.ones(4))
    assert seen[0].status == "inputs_saved"


def test_inputs_are_those_from_before_the_call_and_written_ones_from_after(dumped, dumps) -> None:
    x = torch.ones(4)
    dumped()(x, out=x)
    folder = dumps()[0]
    assert load_file(folder / "inputs.safetensors")["input"].tolist() == [1.0] * 4
    record = Record.read(folder)
    assert record.written == {"out": {"tensor": "out"}}
    assert record.result == {"tensor": "out"}
    assert load_file(folder / "outputs.safetensors")["out"].tolist() == [0.5] * 4


def test_a_call_that_fails_is_recorded_with_its_error(dumped, dumps) -> None:
    with pytest.raises(ValueError, match="as asked"):
        dumped()(torch.ones(4), fail=True)
    record = Record.read(dumps()[0])
    assert record.status == "failed"
    assert record.error is not None
    assert (record.error.type, record.error.message) == ("ValueError", "as asked")


def test_pt_files_have_the_strides(dumped, dumps) -> None:
    dumped(as_safetensors=False)(torch.ones(4, 6)[:, ::2])
    loaded = torch.load(dumps()[0] / "inputs.pt", weights_only=True)
    assert loaded["input"].stride() == (6, 2)


def test_arrays_are_tensors_as_well(dumped, dumps) -> None:
    np = pytest.importorskip("numpy")
    dumped(lambda input: None)(np.arange(3, dtype=np.int32))
    assert load_file(dumps()[0] / "inputs.safetensors")["input"].tolist() == [0, 1, 2]


def test_beyond_the_count_nothing_is_written_and_it_is_said_once(dumped, dumps, warned) -> None:
    call = dumped(limits=Limits(2, 1e9))
    for _ in range(4):
        call(torch.ones(4))
    assert len(dumps()) == 2
    assert warned == ["calls beyond 2 calls are not dumped: FICTL_DUMP_MAX_COUNT"]


def test_a_call_too_large_is_not_begun(dumped, dumps, warned) -> None:
    dumped(limits=Limits(9, 100.0))(torch.ones(16), out=torch.ones(16))  # 64 bytes each.
    assert dumps() == []
    assert warned == ["calls beyond 1e-07 GB are not dumped: FICTL_DUMP_MAX_SIZE_GB"]


def test_outputs_that_do_not_fit_any_more_are_left_out(dumped, dumps, warned) -> None:
    dumped(limits=Limits(9, 100.0))(torch.ones(16))
    record = Record.read(dumps()[0])
    assert (record.status, record.outputs) == ("completed", None)
    assert record.note == "outputs left out: FICTL_DUMP_MAX_SIZE_GB"


def test_a_folder_that_cannot_be_written_is_one_warning_and_the_call_goes_on(
    dumped, tmp_path, warned
) -> None:
    (tmp_path / "dumps").write_text("a file is in the way")
    call = dumped()
    assert call(torch.ones(2)).tolist() == [0.5, 0.5]
    assert call(torch.ones(2)).tolist() == [0.5, 0.5]
    (said,) = warned
    assert said.startswith(f"calls are no longer dumped to {tmp_path / 'dumps'}: ")


def test_a_full_disk_is_one_warning_and_leaves_no_half_a_dump(
    dumped, dumps, warned, monkeypatch
) -> None:
    def full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fictl.op.watch.dump.tensors._sync", full)
    call = dumped()
    assert call(torch.ones(2)).tolist() == [0.5, 0.5]
    assert call(torch.ones(2)).tolist() == [0.5, 0.5]
    assert dumps() == []
    assert len(warned) == 1
    assert "No space left on device" in warned[0]


@pytest.mark.parametrize("as_safetensors", [True, False], ids=["safetensors", "pt"])
def test_the_words_of_either_library_for_it_are_understood(
    dumped, dumps, warned, monkeypatch, as_safetensors: bool
) -> None:
    def full(*arguments: Any) -> None:
        raise SafetensorError("I/O error") if as_safetensors else RuntimeError("write failed")

    monkeypatch.setattr("fictl.op.watch.dump.tensors.serialize_file", full)
    monkeypatch.setattr(torch, "save", full)
    call = dumped(as_safetensors=as_safetensors)
    call(torch.ones(2))
    call(torch.ones(2))
    assert dumps() == []
    assert ["calls are no longer dumped" in said for said in warned] == [True]


def test_a_tensor_that_cannot_be_written_stops_only_its_own_call(dumped, dumps, warned) -> None:
    call = dumped(lambda input: None)
    call(torch.ones(2, dtype=torch.complex128))
    call(torch.ones(2))
    assert len(dumps()) == 1
    assert [said.partition(":")[0] for said in warned] == ["a call of toy.ops.halve is not dumped"]


def test_arguments_that_do_not_fit_are_the_functions_own_error(dumped, dumps, warned) -> None:
    with pytest.raises(TypeError, match="missing 1 required"):
        dumped()()
    assert dumps() == []


def test_nothing_is_copied_while_a_graph_is_captured(dumped, dumps, warned, monkeypatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    call = dumped()
    call(torch.ones(2))
    call(torch.ones(2))
    assert dumps() == []
    assert warned == ["toy.ops.halve is not dumped while a CUDA graph is captured"]


def test_the_folder_is_its_users_alone(dumped, dumps) -> None:
    dumped()(torch.ones(2))
    assert dumps()[0].stat().st_mode & 0o077 == 0


def test_processes_of_the_same_id_do_not_meet(dumped, dumps, monkeypatch) -> None:
    monkeypatch.setattr("fictl.op.watch.call._sequence", iter([7, 7]))
    call = dumped()
    call(torch.ones(2))
    call(torch.ones(2))
    assert len(dumps()) == 2
