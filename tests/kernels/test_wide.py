"""Arithmetic types and functions of one number, by a program of its own."""

from __future__ import annotations

from pathlib import Path

from .conftest import INCLUDE, Toolkit, run_on_gpu


def test_host_and_gpu_have_the_same_right_values(toolkit: Toolkit, tmp_path: Path) -> None:
    program = tmp_path / "wide"
    source = Path(__file__).with_name("wide.cu")
    toolkit.compile(f"-I{INCLUDE}", "-arch=sm_80", source, "-o", program)
    run_on_gpu(program)
