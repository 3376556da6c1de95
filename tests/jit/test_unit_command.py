"""A unit's command taken apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.jit import gen_jit_spec
from fictl.jit.build import plan_build
from fictl.jit.unit_command import compiler_and_flags
from fictl.toolchain import require_toolchain


@pytest.mark.needs_nvcc
def test_launcher_source_and_object_are_left_out(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_NVCC_LAUNCHER", "ccache --x")
    monkeypatch.setenv("FICTL_CXX_LAUNCHER", "distcc")
    sources = [tmp_path / "a.cu", tmp_path / "b.cpp"]
    for source in sources:
        source.touch()
    tools = require_toolchain()
    device, host = (
        compiler_and_flags(unit, tools) for unit in plan_build(gen_jit_spec("m", sources)).units
    )
    assert (device[0], host[0]) == (str(tools.nvcc.path), tools.cxx.ccbin)
    assert "-std=c++17" in device
    assert not {"ccache", "--x", "distcc", "-c", "-o"} & {*device, *host}
