"""`fictl test` without its words: one pytest over the contract and the op's own tests."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.errors import FictlError, UsageError
from fictl.process import run
from fictl.project import OpFolder, find
from fictl.report.test_report import TestReport
from fictl.testing.runner import group
from fictl.testing.runner.run_tests import run_tests


@pytest.fixture
def folders(tiny: Path) -> tuple[OpFolder, ...]:
    return find("twice")


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def own(folders, said, monkeypatch) -> Callable[..., TestReport]:
    """Run `text` as the op's own tests, without the contract."""
    monkeypatch.setattr(group, "CONTRACT", folders[0].test)

    def run_own(text: str, *words: str, **options) -> TestReport:
        folders[0].test.write_text(text)
        return run_tests(folders, said.append, words, **options)

    return run_own


def by_name(report: TestReport) -> dict[str, str]:
    return {each.test.rpartition("::")[2]: each.outcome for each in report.tests}


@pytest.mark.needs_nvcc
def test_the_contract_and_the_ops_own_tests_run(folders, said) -> None:
    report = run_tests(folders, said.append, ["-k", "not reference"])
    assert (report.passed, report.failed, report.skipped) == (2, (), {})
    assert report.seconds > 0
    assert any("2 passed" in line for line in said)


def test_a_test_that_fails_is_named_with_what_it_said_and_what_repeats_it(own, said) -> None:
    report = own("def test_wrong(): assert 1 == 2\n", seed=7)
    (failed,) = report.failed
    assert failed.test == "tests/kernels/elementwise/test_twice.py::test_wrong"
    assert failed.reason == "assert 1 == 2"
    assert failed.command == "fictl test twice --seed 7 -k test_wrong"
    assert report.exit_code == 1
    assert any("assert 1 == 2" in line for line in said)


def test_a_file_that_cannot_be_imported_is_a_failure(own) -> None:
    (failed,) = own("import nowhere_to_be_found\n").failed
    assert failed.test == "tests/kernels/elementwise/test_twice.py"
    assert "No module named 'nowhere_to_be_found'" in failed.reason


def test_a_file_that_cannot_be_imported_leaves_the_contract_its_tests(folders, said) -> None:
    folders[0].test.write_text("import nowhere_to_be_found\n")
    report = run_tests(folders, said.append, ["-k", "reference"])
    assert [each.test for each in report.failed] == ["tests/kernels/elementwise/test_twice.py"]
    assert len(report.tests) > 1


def test_where_all_was_skipped_the_reason_is_told(own) -> None:
    report = own("import pytest\ndef test_own(): pytest.skip('needs a GPU')\n")
    assert (report.skipped, report.exit_code) == ({"needs a GPU": 1}, 3)


@pytest.mark.needs_nvcc
def test_an_op_without_tests_of_its_own_has_the_contract(folders, said) -> None:
    folders[0].test.unlink()
    (folders[0].path / "launcher.cu").write_text('#error "half done"\n')
    (failed,) = run_tests(folders, said.append, ["-k", "builds"]).failed
    assert failed.test.endswith("contract.py::test_builds[elementwise.twice-8.0]")
    assert failed.command == "fictl test twice -k 'test_builds[elementwise.twice-8.0]'"
    assert any("half done" in line for line in said)


def test_a_word_that_chooses_no_test_is_a_mistake(folders, said) -> None:
    with pytest.raises(UsageError, match="no test was chosen"):
        run_tests(folders, said.append, ["-k", "nothing_is_called_so"])


def test_a_pytest_that_does_not_start_is_reported(folders, said) -> None:
    with pytest.raises(FictlError, match="exit code 4 before it ran a test"):
        run_tests(folders, said.append, ["--no-such-option"])


def test_variables_are_those_of_the_tests_alone(own) -> None:
    text = "from fictl import settings\ndef test_own(): assert settings.LOCK_TIMEOUT.get() == 7\n"
    assert own(text, variables={"FICTL_LOCK_TIMEOUT": "7"}).passed
    assert own(text).failed


def test_the_device_and_the_schedules_are_told(own) -> None:
    report = own("def test_own(): pass\n", "--fictl-seed=7", variables={"FICTL_DEVICE": "emu"})
    assert (report.device, report.schedules) == ("emu", ("forward", "reverse", "random-7"))


@pytest.mark.parametrize(
    ("end", "how"),
    [("os.kill(os.getpid(), 9)", "SIGKILL"), ("os.abort()", "SIGABRT"), ("os._exit(3)", "code 3")],
)
def test_a_test_that_ends_the_process_is_one_failure_and_the_others_run(own, end, how) -> None:
    report = own(
        f"import os\ndef test_before(): pass\ndef test_fatal(): {end}\ndef test_after(): pass\n",
        seed=7,
    )
    assert by_name(report) == {
        "test_before": "passed",
        "test_fatal": "failed",
        "test_after": "passed",
    }
    (fatal,) = report.failed
    assert how in fatal.reason
    assert fatal.command == "fictl test twice --seed 7 -k test_fatal"


def test_what_failed_before_the_end_of_the_process_is_said_all_the_same(own, said) -> None:
    text = "def test_wrong():\n    seven = 7\n    assert seven == 8\n"
    own(text + "def test_fatal():\n    import os\n    os._exit(3)\n")
    assert any("assert 7 == 8" in line for line in said)
    assert sum("test_wrong ____" in line for line in said) == 1


def test_a_test_without_an_end_is_ended_and_the_others_run(own, said) -> None:
    text = "def test_endless():\n    while True: pass\ndef test_after(): pass\n"
    report = own(text, timeout=1.0)
    assert by_name(report) == {"test_endless": "failed", "test_after": "passed"}
    assert report.failed[0].reason == "did not end within 1 s"
    assert any("in test_endless" in line for line in said), "where it was is not said"


def test_what_a_test_started_ends_with_the_process(own, tmp_path: Path) -> None:
    beat = tmp_path / "beat"
    own(
        "import subprocess, os, time\n"
        "def test_fatal():\n"
        f"    subprocess.Popen(['sh', '-c', 'while :; do date > {beat}; sleep 0.05; done'])\n"
        "    time.sleep(0.3)\n    os._exit(3)\n"
    )
    before = beat.stat().st_mtime_ns
    time.sleep(0.3)
    assert beat.stat().st_mtime_ns == before


def test_a_fault_of_the_gpu_is_reported_once_and_the_others_run_in_a_new_process(own) -> None:
    report = own(
        "import os, pytest\nfrom fictl.testing.hooks import record\n"
        "broken = []\n"
        "record.device_fault = lambda: RuntimeError('CUDA error: illegal address') if broken else None\n"
        "@pytest.fixture\ndef tensor():\n    yield\n    assert not broken\n"
        "def test_before(): pass\n"
        "def test_stray(tensor): broken.append(os.getpid())\n"
        "def test_after(): assert not broken\n"
    )
    assert by_name(report) == {
        "test_before": "passed",
        "test_stray": "failed",
        "test_after": "passed",
    }
    assert report.failed[0].reason == "RuntimeError: CUDA error: illegal address"


@pytest.mark.parametrize(
    "error",
    [
        "MemoryError('32 GB')",
        "torch.OutOfMemoryError('CUDA out of memory')",
        "torch.empty(1 << 60)",
    ],
)
def test_out_of_memory_is_neither_passed_nor_failed(own, error: str) -> None:
    text = f"import torch\ndef test_large(): raise {error}\ndef test_small(): pass\n"
    report = own(text.replace("raise torch.empty", "torch.empty"))
    assert by_name(report) == {"test_large": "out of memory", "test_small": "passed"}
    assert report.exit_code == 3


def test_the_others_of_an_op_whose_files_are_broken_run(tiny: Path, said) -> None:
    folders = find("twice")
    folders[0].bench.write_text("import nowhere_to_be_found\n")
    report = run_tests(folders, said.append, ["-k", "reference or own"])
    assert by_name(report) == {"test_reference[twice]": "failed", "test_its_own": "passed"}
    assert "bench.py:1: ModuleNotFoundError" in report.failed[0].reason


def test_a_crash_at_the_exit_of_the_process_is_a_failure(own) -> None:
    text = "import atexit, os\ndef test_own(): atexit.register(os.abort)\n"
    (failed,) = own(text).failed
    assert (failed.test, failed.reason) == ("the exit of the process", "ended with SIGABRT")


def test_the_project_is_left_as_it_was(folders, said, tiny: Path) -> None:
    run_tests(folders, said.append, ["-k", "test_its_own"])
    assert {path.name for path in tiny.iterdir()} == {"fictl.toml", "kernels", "tests"}


def test_an_op_that_is_for_gpus_alone_is_skipped_with_that_reason(
    folders, said, users_cache
) -> None:
    run_tests(folders, said.append, ["-k", "reference"], {"FICTL_DEVICE": "emu"})
    text = folders[0].op.read_text()
    folders[0].op.write_text(text.replace('devices="cuda emu"', 'devices="cuda"'))
    report = run_tests(folders, said.append, ["-k", "reference"], {"FICTL_DEVICE": "emu"})
    (reason,) = report.skipped
    assert "twice does not run on the emulated device" in reason
    assert (report.passed, report.failed) == (0, ())


def test_it_takes_little_longer_than_pytest_alone(own, folders) -> None:
    own("def test_nothing(): pass\n")
    words = ("-p", "fictl.testing.plugin", "-p", "no:cacheprovider", str(folders[0].test))
    # tests/perf holds it to a second; a busy machine may be slow here.
    bare = run([sys.executable, "-m", "pytest", *words]).seconds
    assert own("def test_nothing(): pass\n").seconds - bare < 5.0


def test_a_launcher_runs_pytest_and_is_heard(own, said, script) -> None:
    launcher = script("tool", 'echo "this is the tool $1"; shift; "$@"; exit 66')
    report = own("def test_one(): pass\n", launcher=(str(launcher), "--loud"))
    assert (report.passed, report.failed) == (1, ())
    assert "this is the tool --loud" in said


def test_under_a_launcher_the_exit_code_is_not_the_tests(own, script) -> None:
    launcher = script("tool", '"$@"; exit 66')
    text = "import os\ndef test_dies(): os.abort()\ndef test_lives(): pass\n"
    report = own(text, launcher=(str(launcher),))
    assert [each.reason for each in report.failed] == ["ended its process"]
    assert report.passed == 1
