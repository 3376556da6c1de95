"""The gates, the contract's parameters and the report, each seen from outside."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

# A GPU that is not there, for the process that runs the tests.
FAKED = (
    "import pytest\n"
    "import fictl.toolchain\n"
    "from fictl.arch import Arch\n"
    "fictl.toolchain.visible_gpus = lambda: (fictl.toolchain.Gpu(0, 'faked', Arch({arch})),)\n"
)
GATED = "import pytest\n@pytest.mark.{marker}\ndef test_it(): pass\n"
NO_GPU = "import pytest, fictl.toolchain\nfictl.toolchain.visible_gpus = tuple\n"


@pytest.mark.parametrize("marker", ["needs_gpu", "arch('9.0a')"])
def test_without_a_gpu_both_markers_skip(run_pytest, marker: str) -> None:
    done = run_pytest(NO_GPU + GATED.format(marker=marker))
    assert done.returncode == 0
    assert "needs a GPU" in done.stdout
    assert "1 skipped" in done.stdout


@pytest.mark.parametrize(
    ("arch", "marker", "outcome"),
    [
        ("9, 0", "needs_gpu", "1 passed"),
        ("9, 0", "arch('9.0a')", "1 passed"),
        ("9, 0", "arch('>=8.0')", "1 passed"),
        ("8, 0", "arch('9.0a')", "needs 9.0a, the GPU is 8.0"),
        ("7, 5", "arch('>=8.0')", "needs >=8.0, the GPU is 7.5"),
    ],
)
def test_a_rule_admits_the_gpu_or_says_which_one_is_here(
    run_pytest, arch: str, marker: str, outcome: str
) -> None:
    done = run_pytest(FAKED.format(arch=arch) + GATED.format(marker=marker))
    assert done.returncode == 0
    assert outcome in done.stdout


def test_a_rule_that_means_nothing_fails_by_name(run_pytest) -> None:
    done = run_pytest(FAKED.format(arch="9, 0") + GATED.format(marker="arch('9x')"))
    assert done.returncode == 1
    assert "unknown architecture '9x'" in done.stdout


MALFORMED = [
    "arch",
    "arch()",
    "arch('')",
    "arch(' ')",
    "arch(9.0)",
    "arch(90)",
    "arch(None)",
    "arch(b'9.0')",
    "arch('9.0a', '8.0')",
    "arch(['9.0a'])",
    "arch(rule='9.0a')",
    "arch('x86_64')",
    "arch('>=')",
    "gpus",
    "gpus()",
    "gpus(0)",
    "gpus(-1)",
    "gpus('two')",
    "gpus('2')",
    "gpus(2.0)",
    "gpus(True)",
    "gpus(None)",
    "gpus(1, 2)",
    "gpus(n=2)",
    "needs_gpu('a100')",
    "needs_gpu(count=1)",
    "needs_nvcc(12)",
    "needs_nvcc(since='12.8')",
]
PLACES = {
    "function": "import pytest\n@pytest.mark.{mark}\ndef test_{i}(): pass\n",
    "class": "import pytest\n@pytest.mark.{mark}\nclass TestIt:\n    def test_{i}(self): pass\n",
    "module": "import pytest\npytestmark = pytest.mark.{mark}\ndef test_{i}(): pass\n",
    # The nearest one counts; the other is as wrong as before.
    "hidden": "import pytest\npytestmark = pytest.mark.{mark}\n"
    "@pytest.mark.arch('>=7.5')\n@pytest.mark.gpus(1)\ndef test_{i}(): pass\n",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("words", [(), ("--fictl-gpus=2",)], ids=["all", "gpus"])
def test_a_malformed_marker_is_a_sentence_with_file_and_line(
    run_pytest, tmp_path: Path, place: str, words: tuple[str, ...]
) -> None:
    suite = tmp_path / "suite"
    suite.mkdir()
    for number, mark in enumerate(MALFORMED):
        text = PLACES[place].format(mark=mark, i=number)
        (suite / f"test_{number}.py").write_text(text, encoding="utf-8")
    done = run_pytest("", *words, str(suite), FICTL_DEVICE="emu")
    assert f"{len(MALFORMED)} errors" in done.stdout, done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    for number, mark in enumerate(MALFORMED):
        said = rf"test_{number}\.py:[2-4]: @pytest\.mark\.{mark.partition('(')[0]}"
        assert re.search(said, done.stdout), (mark, done.stdout)


@pytest.mark.parametrize(
    ("marker", "outcome"),
    [
        ("needs_gpu", "needs a GPU"),
        ("arch('>=8.0')", "1 passed"),
        ("arch('10.0a')", "needs 10.0a, the emulated device is 9.0"),
    ],
)
def test_the_emulated_device_is_no_gpu_and_can_what_an_early_one_can(
    run_pytest, marker: str, outcome: str
) -> None:
    faked = FAKED.format(arch="9, 0")
    done = run_pytest(faked + GATED.format(marker=marker), FICTL_DEVICE="emu")
    assert done.returncode == 0
    assert outcome in done.stdout


def test_a_test_with_the_device_fixture_is_found_among_those_that_need_a_gpu(run_pytest) -> None:
    text = "def test_kernel(device): pass\ndef test_plain(): pass\n"
    assert "1 deselected" in run_pytest(NO_GPU + text, "-m", "needs_gpu").stdout


def test_without_a_compiler_its_tests_skip(run_pytest) -> None:
    text = "import fictl.toolchain\nfictl.toolchain.find_nvcc = lambda: None\n"
    done = run_pytest(text + GATED.format(marker="needs_nvcc"))
    assert done.returncode == 0
    assert "needs nvcc: none was found" in done.stdout


@pytest.mark.needs_nvcc
def test_with_a_compiler_they_run(run_pytest) -> None:
    assert "1 passed" in run_pytest(GATED.format(marker="needs_nvcc")).stdout


def test_a_gate_is_a_failure_where_tests_have_to_run(run_pytest) -> None:
    done = run_pytest(NO_GPU + GATED.format(marker="needs_gpu"), "--fictl-require-arch")
    assert done.returncode == 1
    assert "it has to run here (--require-arch), and it needs a GPU" in done.stdout


@pytest.mark.parametrize(
    ("archs", "outcome"), [("9.0a", "1 error"), ("8.0", "1 skipped"), ("8.0 9.0", "1 error")]
)
def test_what_has_to_run_is_what_the_list_of_architectures_says(
    run_pytest, archs: str, outcome: str
) -> None:
    text = FAKED.format(arch="8, 0") + GATED.format(marker="arch('9.0a')")
    assert outcome in run_pytest(text, "--fictl-require-arch", FICTL_CUDA_ARCH_LIST=archs).stdout


def test_a_skip_for_another_reason_is_none_that_has_to_run(run_pytest) -> None:
    text = "import pytest\ndef test_it(): pytest.skip('the weather')\n"
    assert "1 skipped" in run_pytest(text, "--fictl-require-arch").stdout


def test_the_contract_is_called_with_an_ops_specs_and_cases(run_pytest, tiny: Path) -> None:
    text = (
        "def test_spec(fictl_suite, fictl_spec, fictl_arch): pass\n"
        "def test_case(fictl_suite, fictl_case):\n"
        "    assert fictl_suite.function(fictl_case.case).__name__ == 'twice'\n"
    )
    # Why twice: an op that is named in two ways is tested once.
    words = ("--fictl-op=twice", "--fictl-op=tiny/elementwise", "--fictl-seed=7")
    done = run_pytest(text, *words, "-k", "spec or contiguous", cwd=tiny)
    assert done.returncode == 0, done.stdout
    assert "test_spec[elementwise.twice-8.0]" in done.stdout
    assert "test_case[twice-1-int32,contiguous,seed=7]" in done.stdout
    assert "2 passed" in done.stdout


def test_an_op_builds_once_for_each_architecture_of_its_project(run_pytest, tiny: Path) -> None:
    (tiny / "fictl.toml").write_text('name = "tiny"\narchs = "8.0 9.0a"\n')
    text = "def test_spec(fictl_spec, fictl_arch): pass\n"
    done = run_pytest(text, "--fictl-op=twice", cwd=tiny)
    assert "test_spec[elementwise.twice-8.0]" in done.stdout
    assert "test_spec[elementwise.twice-9.0a]" in done.stdout


CASES = "def test_case(fictl_suite, fictl_case): pass\ndef test_plain(): pass\n"


def test_one_generated_test_is_run_by_its_name(run_pytest, tiny: Path) -> None:
    name = "twice-1-int32,contiguous,seed=9"
    done = run_pytest(CASES, "--fictl-op=twice", f"--fictl-case={name}", cwd=tiny)
    assert f"test_case[{name}] PASSED" in done.stdout
    assert "1 passed, 1 deselected" in done.stdout


def test_what_a_broken_file_should_have_given_fails_by_the_name_of_its_op(
    run_pytest, tiny: Path
) -> None:
    (tiny / "kernels" / "elementwise" / "twice" / "bench.py").write_text("1 / 0\n")
    done = run_pytest(CASES, "--fictl-op=twice", cwd=tiny)
    assert "test_case[twice] FAILED" in done.stdout or "test_case[twice] ERROR" in done.stdout
    assert "ZeroDivisionError" in done.stdout
    assert "1 passed" in done.stdout


def test_tests_for_so_many_gpus_are_chosen_by_the_number(run_pytest) -> None:
    text = (
        "import pytest\n@pytest.mark.gpus(1)\ndef test_one(): pass\n"
        "@pytest.mark.gpus(2)\ndef test_two(): pass\ndef test_plain(): pass\n"
    )
    assert "1 passed, 2 deselected" in run_pytest(text, "--fictl-gpus=1", FICTL_DEVICE="emu").stdout


@pytest.mark.parametrize(
    ("variables", "outcome"),
    [
        ({"FICTL_DEVICE": "emu"}, "needs 2 ranks, this is 0 of 1"),
        ({"FICTL_DEVICE": "emu", "OMPI_COMM_WORLD_SIZE": "4"}, "needs 2 ranks, this is 0 of 4"),
        ({"FICTL_DEVICE": "cuda"}, "needs 2 GPUs, 0 are visible"),
        ({"FICTL_DEVICE": "emu", "WORLD_SIZE": "2", "RANK": "1"}, "1 passed"),
    ],
)
def test_a_test_for_two_gpus_runs_in_two_ranks_only(run_pytest, variables, outcome: str) -> None:
    text = GATED.format(marker="gpus(2)")
    assert outcome in run_pytest(NO_GPU + text, **variables).stdout


def test_an_op_that_needs_a_package_to_be_built_is_skipped_with_the_reason(run_pytest) -> None:
    done = run_pytest(
        "from fictl.errors import NotInstalled\n"
        "def test_it(): raise NotInstalled('math.gelu has a kernel in Triton')\n"
    )
    assert done.returncode == 0
    assert "math.gelu has a kernel in Triton" in done.stdout


DRAWN = """
import random, torch
from fictl import settings
from fictl.testing import assert_close
def test_scores():
    assert_close(torch.ones(2), torch.zeros(2), "scores")
def test_drawn():
    assert (settings.DEVICE.get(), random.random(), torch.rand(()).item()) == ()
"""


def test_bare_pytest_emulates_without_a_gpu_says_so_and_how_its_inputs_come_again(
    run_pytest,
) -> None:
    first = run_pytest(DRAWN, FICTL_DEVICE="")
    assert "fictl: no GPU here, so ops run on the emulated device" in first.stdout
    # Of a failed comparison, the user's line and what was seen; no line of fictl.
    assert "scores: 2 of 2 elements differ" in first.stdout
    assert "compare.py" not in first.stdout
    (again,) = re.findall(r"--fictl-seed=\d+", first.stdout)
    drawn = re.findall(r"^E .*('emu', .*)", first.stdout, re.MULTILINE)
    repeated = run_pytest(DRAWN, again, FICTL_DEVICE="")
    assert drawn == re.findall(r"^E .*('emu', .*)", repeated.stdout, re.MULTILINE) != []
