"""`fictl test` without its words: one pytest over the contract and the op's own tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import FictlError, UsageError
from fictl.process import TimedOut
from fictl.project import OpFolder, find
from fictl.testing.run import TestReport, run_tests


@pytest.fixture
def folders(tiny: Path) -> tuple[OpFolder, ...]:
    return find("twice")


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.mark.parametrize(
    ("report", "code"),
    [
        (TestReport(3), 0),
        (TestReport(3, skipped={"needs a GPU": 5}), 0),
        (TestReport(3, ("test_it",)), 1),
        (TestReport(0, ("test_it",), {"needs a GPU": 5}), 1),
        (TestReport(0, skipped={"needs a GPU": 5}), 3),
    ],
)
def test_the_exit_code_tells_a_failure_from_a_machine_that_can_run_none(
    report: TestReport, code: int
) -> None:
    assert report.exit_code == code


@pytest.mark.needs_nvcc
def test_the_contract_and_the_ops_own_tests_run(folders, said) -> None:
    report = run_tests(folders, said.append, ["-k", "not reference"])
    assert (report.passed, report.failed, report.skipped) == (2, (), {})
    assert report.seconds > 0
    assert any("2 passed" in line for line in said)


def test_a_test_that_fails_is_named(folders, said) -> None:
    folders[0].test.write_text("def test_wrong(): assert 1 == 2\n")
    report = run_tests(folders, said.append, ["-k", "test_wrong"])
    assert report.failed == ("tests/kernels/elementwise/test_twice.py::test_wrong",)
    assert report.exit_code == 1
    assert any("assert 1 == 2" in line for line in said)


def test_a_file_that_cannot_be_imported_is_a_failure(folders, said) -> None:
    folders[0].test.write_text("import nowhere_to_be_found\n")
    report = run_tests(folders, said.append)
    assert report.failed == ("tests/kernels/elementwise/test_twice.py",)


def test_where_all_was_skipped_the_reason_is_told(folders, said) -> None:
    folders[0].test.write_text("import pytest\ndef test_own(): pytest.skip('needs a GPU')\n")
    report = run_tests(folders, said.append, ["-k", "test_own"])
    assert (report.skipped, report.exit_code) == ({"needs a GPU": 1}, 3)


@pytest.mark.needs_nvcc
def test_an_op_without_tests_of_its_own_has_the_contract(folders, said) -> None:
    folders[0].test.unlink()
    (folders[0].path / "launcher.cu").write_text('#error "half done"\n')
    (failed,) = run_tests(folders, said.append, ["-k", "builds"]).failed
    assert failed.endswith("contract.py::test_builds[elementwise.twice-8.0]")
    assert any("half done" in line for line in said)


def test_a_word_that_chooses_no_test_is_a_mistake(folders, said) -> None:
    with pytest.raises(UsageError, match="no test was chosen"):
        run_tests(folders, said.append, ["-k", "nothing_is_called_so"])


def test_a_pytest_that_does_not_start_is_reported(folders, said) -> None:
    with pytest.raises(FictlError, match="exit code 4 before it ran a test"):
        run_tests(folders, said.append, ["--no-such-option"])


def test_variables_are_those_of_the_tests_alone(folders, said) -> None:
    folders[0].test.write_text(
        "from fictl import settings\n"
        "def test_own(): assert settings.LOCK_TIMEOUT.get() == 7\n"
    )  # fmt: skip
    assert run_tests(folders, said.append, ["-k", "test_own"], {"FICTL_LOCK_TIMEOUT": "7"}).passed
    assert run_tests(folders, said.append, ["-k", "test_own"]).failed


def test_the_device_and_the_schedules_are_told(folders, said) -> None:
    words = ["-k", "test_its_own", "--fictl-seed=7"]
    report = run_tests(folders, said.append, words, {"FICTL_DEVICE": "emu"})
    assert (report.device, report.schedules) == ("emu", ("forward", "reverse", "random-7"))


@pytest.mark.parametrize(
    ("end", "how"),
    [("os.kill(os.getpid(), 9)", "SIGKILL"), ("os.abort()", "SIGABRT"), ("os._exit(3)", "code 3")],
)
def test_a_test_that_ends_the_process_is_named_with_how_it_did(folders, said, end, how) -> None:
    folders[0].test.write_text(f"import os\ndef test_fatal(): {end}\n")
    with pytest.raises(FictlError, match=rf"::test_fatal ended the tests with .*{how}") as caught:
        run_tests(folders, said.append, ["-k", "test_fatal"])
    assert caught.value.hint.startswith("-k runs it alone")


def test_tests_without_an_end_are_ended(folders, said) -> None:
    folders[0].test.write_text("def test_endless():\n    while True: pass\n")
    with pytest.raises(TimedOut, match="did not end within 2 s"):
        run_tests(folders, said.append, ["-k", "test_endless"], timeout=2)


def test_the_project_is_left_as_it_was(folders, said, tiny: Path) -> None:
    run_tests(folders, said.append, ["-k", "test_its_own"])
    assert {path.name for path in tiny.iterdir()} == {"fictl.toml", "kernels", "tests"}


def test_an_op_that_is_for_gpus_alone_is_skipped_with_that_reason(folders, said) -> None:
    text = folders[0].op.read_text()
    folders[0].op.write_text(text.replace('devices="cuda emu"', 'devices="cuda"'))
    report = run_tests(folders, said.append, ["-k", "reference"], {"FICTL_DEVICE": "emu"})
    (reason,) = report.skipped
    assert "elementwise.twice does not run on the emulated device" in reason
    assert (report.passed, report.failed) == (0, ())
