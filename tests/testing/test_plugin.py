"""The gates, the contract's parameters and the report, each seen from outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fictl.testing.plugin import running_file

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


@pytest.mark.parametrize(
    ("marker", "outcome"),
    [
        ("needs_gpu", "needs a GPU"),
        ("arch('>=8.0')", "1 passed"),
        ("arch('9.0a')", "needs 9.0a, the emulated device is 8.9"),
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


def test_the_report_counts_names_and_explains(run_pytest, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    text = (
        "import pytest\n"
        "def test_good(): pass\n"
        "def test_bad(): assert 0\n"
        "@pytest.fixture\ndef broken(): raise OSError\n"
        "def test_error(broken): pass\n"
        "@pytest.mark.parametrize('n', [1, 2])\n"
        "def test_absent(n): pytest.skip('no time: today')\n"
    )
    assert run_pytest(text, f"--fictl-report={report}").returncode == 1
    assert json.loads(report.read_text()) == {
        "passed": 1,
        "failed": ["test_it.py::test_bad", "test_it.py::test_error"],
        "skipped": {"no time: today": 2},
        "device": "cuda",
        "schedules": [],
    }


def test_the_report_of_emulated_tests_has_the_schedules(run_pytest, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    words = (f"--fictl-report={report}", "--fictl-seed=7")
    run_pytest("def test_it(): pass\n", *words, FICTL_DEVICE="emu")
    data = json.loads(report.read_text())
    assert (data["device"], data["schedules"]) == ("emu", ["forward", "reverse", "random-7"])


def test_a_test_that_ends_the_process_leaves_its_name(run_pytest, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    text = "import os\ndef test_good(): pass\ndef test_fatal(): os._exit(3)\n"
    assert run_pytest(text, f"--fictl-report={report}").returncode == 3
    assert not report.exists()
    assert running_file(report).read_text() == "test_it.py::test_fatal"


def test_without_the_option_nothing_is_written(run_pytest, tmp_path: Path) -> None:
    run_pytest("def test_it(): pass")
    names = {path.name for path in (tmp_path / "suite").iterdir()}
    assert names - {"__pycache__"} == {"test_it.py"}


def test_the_contract_is_called_with_an_ops_specs_and_cases(run_pytest, tiny: Path) -> None:
    text = (
        "def test_spec(fictl_suite, fictl_spec, fictl_arch): pass\n"
        "def test_case(fictl_suite, fictl_case):\n"
        "    assert fictl_suite.function(fictl_case).__name__ == 'twice'\n"
    )
    # Why twice: an op that is named in two ways is tested once.
    done = run_pytest(text, "--fictl-op=twice", "--fictl-op=tiny/elementwise", cwd=tiny)
    assert done.returncode == 0, done.stdout
    assert "test_spec[elementwise.twice-8.0]" in done.stdout
    assert "test_case[twice-1-int32]" in done.stdout
    assert "2 passed" in done.stdout


def test_an_op_builds_once_for_each_architecture_of_its_project(run_pytest, tiny: Path) -> None:
    (tiny / "fictl.toml").write_text('name = "tiny"\narchs = "8.0 9.0a"\n')
    text = "def test_spec(fictl_spec, fictl_arch): pass\n"
    done = run_pytest(text, "--fictl-op=twice", cwd=tiny)
    assert "test_spec[elementwise.twice-8.0]" in done.stdout
    assert "test_spec[elementwise.twice-9.0a]" in done.stdout


def test_a_foreign_project_pays_for_nothing(run_pytest) -> None:
    text = (
        "import sys\n"
        "def test_it():\n"
        "    assert 'torch' not in sys.modules\n"
        "    ours = {name for name in sys.modules if name.startswith('fictl.')}\n"
        "    assert not ours & {'fictl.project', 'fictl.toolchain', 'fictl.jit', 'fictl.op'}\n"
    )
    done = run_pytest(text)
    assert done.returncode == 0, done.stdout
