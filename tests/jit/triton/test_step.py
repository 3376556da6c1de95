"""What Triton is asked for, so that its code runs wherever nvcc's would."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.arch import Arch, parse_archs, spell
from fictl.errors import NotInstalled, UsageError
from fictl.jit.triton.step import command, require, targets


@pytest.mark.parametrize(
    ("archs", "asked"),
    [
        ("8.0", "8.0"),
        ("8.0+PTX 8.6", "8.0+PTX 8.6"),
        ("9.0", "9.0"),
        ("8.0 9.0a", "8.0 9.0"),
        ("10.0a", "10.0"),
        ("10.0", "10.0 10.3"),
        ("10.0f", "10.0 10.3"),
        ("10.0f 10.3a 12.1f", "10.0 10.3 12.1"),
        ("13.0", "13.0"),
    ],
)
def test_code_for_each_gpu_of_a_family_from_9_0_on(archs: str, asked: str) -> None:
    assert spell(targets("kernel.py", parse_archs(archs))) == asked


def test_ptx_for_later_gpus_is_refused_where_triton_has_none() -> None:
    with pytest.raises(UsageError, match=r"kernel\.py: no 9\.0\+PTX: .* runs on that GPU alone"):
        targets("kernel.py", parse_archs("9.0+PTX"))


def test_the_command_says_all_that_decides_the_code() -> None:
    words = command(
        Path("/op/kernel.py"), parse_archs("8.0+PTX 9.0a"), "src/kernel.inc", line_info=False
    )
    assert words[:3] == ("env", "TRITON_INTERPRET=0", "TRITON_DISABLE_LINE_INFO=1")
    assert words[-5:] == ("/op/kernel.py", "80+ptx", "90", "-o", "src/kernel.inc")
    traced = command(Path("k.py"), [Arch(8, 0)], "k.inc", line_info=True)
    assert "TRITON_DISABLE_LINE_INFO=0" in traced


def test_without_triton_the_way_to_get_it_is_said() -> None:
    require("math.gelu", {"triton": "3.6.0"})
    with pytest.raises(NotInstalled, match=r"(?s)math\.gelu has a kernel in Triton.*pip install"):
        require("math.gelu", {"nvcc": "13.0"})
