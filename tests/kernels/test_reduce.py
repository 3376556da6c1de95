"""Reductions over warps and blocks, by a program of its own."""

from __future__ import annotations

from pathlib import Path

from .conftest import INCLUDE, Toolkit, run_on_gpu


def test_every_thread_has_the_result_however_many_follow(toolkit: Toolkit, tmp_path: Path) -> None:
    program = tmp_path / "reduce"
    source = Path(__file__).with_name("reduce.cu")
    toolkit.compile(f"-I{INCLUDE}", "-arch=sm_80", source, "-o", program)
    run_on_gpu(program)
