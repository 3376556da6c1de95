"""Kernels with planted mistakes, emulated, as the generated tests of their project find them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.project import find
from fictl.testing.generated import contract
from fictl.testing.generated.suite import OpSuite

KERNEL = "kernels/include/stray/elementwise/shift.cuh"
LAUNCHER = "kernels/elementwise/shift/launcher.cu"
OP = "kernels/elementwise/shift/op.py"
NO_ELEMENTS = "shift-0-int32,contiguous,seed=7"
OF_CASE = {
    f"shift-40-int32,{layout},seed=7" for layout in ("contiguous", "strided", "skewed", "offset")
}


@pytest.fixture
def failures(stray: Path, monkeypatch: pytest.MonkeyPatch):
    """What the variants of `shift` say that fail, once this line of a file is changed."""
    monkeypatch.setenv("FICTL_DEVICE", "emu")

    def run(file: str, old: str, new: str) -> dict[str, str]:
        text = (stray / file).read_text()
        assert old in text
        (stray / file).write_text(text.replace(old, new))
        (folder,) = find("shift")
        suite, failed = OpSuite(folder), {}
        for variant in suite.variants(seed=7):
            try:
                contract.test_reference(suite, variant, "cpu")
            except (AssertionError, RuntimeError) as error:
                failed[str(variant)] = str(error)
        return failed

    return run


def test_a_right_kernel_passes(failures) -> None:
    assert failures(KERNEL, "i < n", "i < n") == {}


def test_a_launch_of_no_blocks_for_no_elements(failures) -> None:
    failed = failures(LAUNCHER, "n == 0", "n < 0")
    assert failed.keys() == {NO_ELEMENTS}
    assert "bad-launch" in failed[NO_ELEMENTS]


def test_a_kernel_that_writes_past_the_end(failures) -> None:
    failed = failures(KERNEL, "i < n", "i <= n")
    assert failed.keys() == OF_CASE
    assert failed["shift-40-int32,contiguous,seed=7"].startswith(
        "out was written outside: 4 bytes, the first past its end, at element 40 from its start: "
    )


def test_a_kernel_that_leaves_an_element_unwritten(failures) -> None:
    failed = failures(KERNEL, "i < n", "i < n - 1")
    assert failed.keys() == OF_CASE
    for variant in OF_CASE:
        assert failed[variant].startswith(
            "out: 1 of 40 elements differ; 1 element was never written"
        )


def test_a_kernel_that_ignores_the_strides_of_its_output(failures) -> None:
    failed = failures(KERNEL, "out[(i + by) * out_stride]", "out[i + by]")
    strided, skewed = "shift-40-int32,strided,seed=7", "shift-40-int32,skewed,seed=7"
    assert failed.keys() == {strided, skewed}
    for variant in (strided, skewed):
        assert "the first between its elements, at element 1 from its start" in failed[variant]


def test_an_op_that_writes_its_input(failures) -> None:
    failed = failures(OP, "kernel.shift(out, input, by)", "kernel.shift(input, input, 1)")
    assert failed.keys() >= OF_CASE
    for variant in OF_CASE:
        assert failed[variant].startswith("input was written, which mutates= does not name: ")


def test_what_is_too_large_to_emulate_is_skipped_with_that_reason(failures, stray: Path) -> None:
    bench = "kernels/elementwise/shift/bench.py"
    (stray / bench).write_text((stray / bench).read_text().replace('"n": 40', '"n": 1 << 17 | 1'))
    suite = OpSuite(find("shift")[0])
    with pytest.raises(pytest.skip.Exception, match="too large for the emulated device"):
        contract.test_reference(suite, suite.variants()[0], "cpu")
