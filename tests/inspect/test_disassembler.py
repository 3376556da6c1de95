"""NVIDIA's programs: missing, too old, or with an answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import FictlError, SetupError
from fictl.inspect.disassembler import disassembly, extract, live_registers, require


def test_a_missing_program_is_named_with_its_package(monkeypatch) -> None:
    monkeypatch.setattr("fictl.inspect.disassembler.find_tool", lambda name: None)
    with pytest.raises(SetupError, match="nvdisasm is neither on PATH") as error:
        require("nvdisasm")
    assert error.value.hint == "pip install nvidia-cuda-nvdisasm"


def test_its_answer_is_returned(program, tmp_path: Path) -> None:
    program("nvdisasm", 'echo "$@"')
    assert disassembly(tmp_path / "a.cubin") == f"-gi -c {tmp_path}/a.cubin\n"


def test_what_it_cannot_read_is_said_in_its_words(program, tmp_path: Path) -> None:
    program("nvdisasm", 'echo "nvdisasm fatal   : Unsupported SM (sm_130)"; exit 255')
    with pytest.raises(FictlError, match=r"cannot read a\.cubin: nvdisasm fatal .*sm_130") as error:
        disassembly(tmp_path / "a.cubin")
    assert "pip install nvidia-cuda-nvdisasm" in error.value.hint


def test_what_cuobjdump_extracts_is_listed(program, tmp_path: Path) -> None:
    program("cuobjdump", "touch b.sm_90a.cubin a.sm_80.cubin a.ptx; exit 1")
    found = extract(tmp_path / "module.so", tmp_path)
    assert [path.name for path in found] == ["a.sm_80.cubin", "b.sm_90a.cubin"]


def test_code_that_it_cannot_follow_has_no_live_registers(program, tmp_path: Path) -> None:
    program("nvdisasm", "echo 'Cannot print life ranges'; exit 1")
    assert live_registers(tmp_path / "a.cubin") == ""
