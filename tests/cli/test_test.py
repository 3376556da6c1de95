"""fictl test: how a report is shown, and with which exit code."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fictl.arch import Arch
from fictl.paths import cache_root
from fictl.report.outcome import TestOutcome
from fictl.report.test_report import TestReport
from fictl.toolchain import Gpu

PASSED = TestOutcome("tests/test_halve.py::test_good", "passed", 0.5)
WRONG = TestOutcome(
    "tests/test_halve.py::test_wrong[1-2]",
    "failed",
    0.25,
    "assert [1] == 2",
    "fictl test halve -k 'test_wrong[1-2]'",
)
SKIPPED = TestOutcome("tests/test_halve.py::test_gpu", "skipped", 0.0, "needs a GPU")
FULL = TestOutcome("tests/test_halve.py::test_large", "out of memory", 1.0, "MemoryError: 32 GB")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[[TestReport], list[Any]]:
    """Answer with a report instead of running pytest; the list fills with what was asked."""

    def answer(report: TestReport) -> list[Any]:
        calls: list[Any] = []

        def run_tests(
            folders: Any,
            say: Callable[[str], object],
            words: list[str],
            variables: dict[str, str],
            timeout: float,
            **more: Any,
        ) -> TestReport:
            names = [str(folder) for folder in folders]
            calls.append((names, words, variables, {"timeout": timeout, **more}))
            say("pytest's own words")
            return report

        monkeypatch.setattr("fictl.testing.runner.request.run_tests", run_tests)
        return calls

    return answer


@pytest.fixture
def gpu_8_0(monkeypatch: pytest.MonkeyPatch, program) -> None:
    program("compute-sanitizer", "echo Version 2025.3.1.0")
    gpus = (Gpu(0, "faked", Arch(8, 0)),)
    for module in ("fictl.toolchain", "fictl.toolchain.gpus"):
        monkeypatch.setattr(f"{module}.visible_gpus", lambda: gpus)


def test_what_passed_and_what_did_not_run_here_is_told_with_what_would_run_it(
    fictl, repo: Path, asked
) -> None:
    asked(TestReport((PASSED, SKIPPED, SKIPPED), seconds=1.23))
    answer = fictl("test", "halve")
    assert answer.code == 0
    assert answer.out.splitlines() == [
        "✓ 1 passed   1.2 s",
        "  not run here: 2 (needs a GPU): fictl test halve --device cuda, on a machine with one",
    ]
    assert "pytest's own words" in answer.err


def test_a_failure_is_named_with_its_reason_and_what_repeats_it(fictl, repo: Path, asked) -> None:
    asked(TestReport((PASSED, WRONG)))
    answer = fictl("test", "halve")
    assert answer.code == 1
    assert answer.out.splitlines() == [
        "✗ 1 passed · 1 failed   0.0 s",
        "  failed tests/test_halve.py::test_wrong[1-2]  assert [1] == 2",
        "    fictl test halve -k 'test_wrong[1-2]'",
    ]


def test_one_failure_is_shown_for_each_cause(fictl, repo: Path, asked) -> None:
    alike = [
        replace(WRONG, test=f"{WRONG.test}-{i}", reason=f"assert [{i}.5] == {i}") for i in range(30)
    ]
    other = replace(WRONG, test="tests/test_halve.py::test_other", command="fictl test halve -k o")
    asked(TestReport((WRONG, *alike, other)))
    assert fictl("test", "halve").out.splitlines()[1:] == [
        "  failed tests/test_halve.py::test_wrong[1-2]  assert [1] == 2",
        "    fictl test halve -k 'test_wrong[1-2]'",
        "    and 30 tests more of this cause; --json lists them",
        "  failed tests/test_halve.py::test_other  assert [1] == 2",
        "    fictl test halve -k o",
    ]


def test_what_follows_two_dashes_goes_to_pytest(fictl, repo: Path, asked) -> None:
    calls = asked(TestReport((PASSED,)))
    assert fictl("test", "halve", "-k", "a", "--seed", "7", "--", "-x", "--lf", "--pdb").code == 0
    folders, words, _, options = calls[0]
    assert folders == ["my_kernels/elementwise/halve"]
    assert words == ["-k", "a", "-x", "--lf", "--pdb"]
    # Nobody waits in a debugger for five minutes only.
    assert (options["timeout"], options["is_attached"], options["seed"]) == (math.inf, True, 7)
    assert options["cache"].is_relative_to(cache_root())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-n", "2", "--device", "emu", "--", "--lf"), "--lf and -n exclude each other"),
        (("--gpus", "2", "--device", "emu", "--", "--pdb"), "--pdb and --gpus exclude"),
        (("--on", "local", "--", "-x"), "words after -- are for the pytest of this machine"),
    ],
)
def test_words_for_pytest_that_several_processes_cannot_take_are_refused(
    fictl, repo: Path, asked, words, said
) -> None:
    calls = asked(TestReport((PASSED,)))
    answer = fictl("test", "halve", *words)
    assert (answer.code, calls) == (2, [])
    assert said in answer.err


def test_where_nothing_could_run_it_is_exit_code_3(fictl, repo: Path, asked) -> None:
    asked(TestReport((SKIPPED,)))
    answer = fictl("test", "halve")
    assert answer.code == 3
    assert answer.out.startswith("! 0 passed")


def test_out_of_memory_is_an_outcome_of_its_own(fictl, repo: Path, asked) -> None:
    asked(TestReport((PASSED, FULL)))
    answer = fictl("test", "halve")
    assert answer.code == 3
    assert answer.out.startswith("! 1 passed · 1 out of memory")
    assert "  out of memory tests/test_halve.py::test_large  MemoryError: 32 GB" in answer.out


@pytest.mark.parametrize("tests", [(SKIPPED,), (PASSED, FULL)])
def test_what_has_to_run_and_could_not_is_a_failure(fictl, repo: Path, asked, tests) -> None:
    calls = asked(TestReport(tests))
    assert fictl("test", "halve", "--require-arch").code == 1
    assert calls[0][1] == ["--fictl-require-arch"]


def test_json_is_one_document_without_the_words_of_pytest(fictl, repo: Path, asked) -> None:
    asked(TestReport((PASSED, WRONG, SKIPPED, FULL), 1.234))
    answer = fictl("test", "halve", "--json")
    assert answer.code == 1
    document = answer.document
    tests = document["data"].pop("tests")
    assert document == {
        "schema": "fictl.test/1",
        "ok": False,
        "data": {
            "passed": 1,
            "failed": ["tests/test_halve.py::test_wrong[1-2]"],
            "causes": [
                {"reason": WRONG.reason, "command": WRONG.command, "tests": [WRONG.test]},
            ],
            "out_of_memory": ["tests/test_halve.py::test_large"],
            "skipped": {"needs a GPU": 1},
            "seconds": 1.23,
            "device": "cuda",
            "gpus": "",
            "schedules": [],
        },
        "error": None,
    }
    assert [(row["outcome"], row["seconds"]) for row in tests] == [
        ("passed", 0.5),
        ("failed", 0.25),
        ("skipped", 0.0),
        ("out of memory", 1.0),
    ]
    assert answer.err == ""


def test_without_names_it_is_every_op_of_the_project_here(fictl, repo: Path, asked) -> None:
    calls = asked(TestReport((PASSED,)))
    fictl("test")
    assert [call[:2] for call in calls] == [
        (["my_kernels/elementwise/halve", "my_kernels/gemm/dense"], [])
    ]


def test_a_keyword_is_handed_to_pytest(fictl, repo: Path, asked) -> None:
    calls = asked(TestReport((PASSED,)))
    fictl("test", "dense", "-k", "builds")
    assert [call[:2] for call in calls] == [(["my_kernels/gemm/dense"], ["-k", "builds"])]


def test_emulated_tests_say_so_and_under_how_many_schedules(fictl, repo: Path, asked) -> None:
    asked(TestReport((PASSED,) * 6, device="emu", schedules=("forward", "reverse", "random-7")))
    out = fictl("test", "halve").out
    assert out == "✓ 6 passed · 3 schedules   0.0 s   emulated: no GPU was used\n"


def test_json_says_which_device_and_which_schedules(fictl, repo: Path, asked) -> None:
    asked(TestReport((PASSED,) * 6, device="emu", schedules=("random-7",)))
    data = fictl("test", "halve", "--json").document["data"]
    assert (data["device"], data["schedules"]) == ("emu", ["random-7"])


@pytest.mark.parametrize(
    ("words", "environment", "chosen"),
    [
        ((), {}, {"FICTL_DEVICE": "emu"}),
        (("--device", "EMU"), {"FICTL_DEVICE": "cuda"}, {"FICTL_DEVICE": "emu"}),
        # It says what to build for, not what there is to test on.
        ((), {"FICTL_CUDA_ARCH_LIST": "9.0a"}, {"FICTL_DEVICE": "emu"}),
        (
            ("--schedule", "random-7"),
            {},
            {"FICTL_DEVICE": "emu", "FICTL_EMU_SCHEDULE": "random-7"},
        ),
    ],
)
def test_where_there_is_no_gpu_tests_are_emulated_unless_the_user_says_otherwise(
    fictl, repo: Path, asked, monkeypatch, words, environment, chosen
) -> None:
    monkeypatch.setattr("fictl.emu.toolchain.current_toolchain", object)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    calls = asked(TestReport((PASSED,)))
    fictl("test", "halve", *words)
    assert calls[0][2] == chosen


@pytest.mark.parametrize("by", ["flag", "variable"])
def test_a_gpu_that_is_asked_for_and_is_not_there_is_told(
    fictl, repo: Path, asked, monkeypatch, by: str
) -> None:
    if by == "variable":
        monkeypatch.setenv("FICTL_DEVICE", "cuda")
    calls = asked(TestReport((PASSED, SKIPPED)))
    answer = fictl("test", "halve", *(["--device", "cuda"] if by == "flag" else []))
    assert (answer.code, calls) == (3, [])
    assert "there is no GPU here" in answer.err
    assert "--device emu" in answer.err


@pytest.mark.parametrize("command", ["test", "sanitize"])
@pytest.mark.parametrize(
    ("device", "old", "new", "said"),
    [
        ("emu", 'devices="cuda emu"', 'devices="cuda"', "does not run on the emulated device"),
        ("cuda", 'devices="cuda emu"', 'devices="emu"', "does not run on the GPU here"),
        ("cuda", 'archs=">=8.0"', 'archs="9.0a"', "is for 9.0a, and the GPU here is 8.0"),
    ],
)
def test_an_op_that_is_named_and_cannot_run_on_the_device_asked_for_is_never_green(
    fictl, repo: Path, asked, gpu_8_0, command, device, old, new, said
) -> None:
    op = repo / "kernels" / "elementwise" / "halve" / "op.py"
    op.write_text(op.read_text().replace(old, new))
    calls = asked(TestReport((PASSED, SKIPPED)))
    answer = fictl(command, "halve", "--device", device)
    assert (answer.code, calls) == (3, [])
    assert said in answer.err


@pytest.mark.parametrize(
    ("option", "value"),
    [("--schedule", "sideways"), ("--device", "gpu"), ("--schedule", "random-")],
)
def test_a_device_or_a_schedule_that_means_nothing_is_a_usage_error(
    fictl, repo: Path, asked, option: str, value: str
) -> None:
    calls = asked(TestReport((PASSED,)))
    answer = fictl("test", "halve", option, value)
    assert answer.code == 2
    assert f"{option}={value!r} cannot be read" in answer.err
    assert calls == []


def test_seconds_for_one_test_are_handed_on(fictl, repo: Path, asked) -> None:
    calls = asked(TestReport((PASSED,)))
    fictl("test", "halve", "--timeout", "7.5")
    assert calls[0][3]["timeout"] == 7.5


def test_over_cores_each_process_has_its_share(fictl, repo: Path, asked) -> None:
    calls = asked(TestReport((PASSED,)))
    fictl("test", "halve", "--device", "emu", "-n", "3")
    assert len(calls[0][3]["slots"]) == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-n", "many"), "-n many: expected auto or a whole number from 1"),
        (("-n", "0"), "-n 0: expected auto"),
        (("-n", "2", "--device", "cuda"), "there is no GPU here"),
        (("-n", "2", "--gpus", "2"), "exclude each other"),
    ],
)
def test_numbers_of_processes_that_cannot_be_are_refused(
    fictl, repo: Path, asked, words, said: str
) -> None:
    calls = asked(TestReport((PASSED,)))
    answer = fictl("test", "halve", *words)
    assert answer.code in {2, 3}
    assert said in answer.err
    assert calls == []


@pytest.mark.parametrize(("device", "ranks"), [("emu", 2), ("cuda", 1)])
def test_ranks_are_as_many_as_asked_for_where_there_are_the_gpus(
    fictl, repo: Path, asked, gpu_8_0, device: str, ranks: int
) -> None:
    calls = asked(TestReport((PASSED,)))
    fictl("test", "halve", "--gpus", "2", "--device", device)
    assert calls[0][1] == ["--fictl-gpus=2"]
    assert calls[0][3]["ranks"] == ranks


def test_junit_is_written_beside_what_is_shown(fictl, repo: Path, asked, tmp_path: Path) -> None:
    asked(TestReport((PASSED, WRONG)))
    assert fictl("test", "halve", "--junit", str(tmp_path / "out.xml")).code == 1
    assert 'tests="2" failures="1"' in (tmp_path / "out.xml").read_text()


def test_a_file_that_cannot_be_written_is_said_before_the_tests_run(
    fictl, repo: Path, asked, tmp_path: Path
) -> None:
    calls = asked(TestReport((PASSED,)))
    answer = fictl("test", "halve", "--junit", str(tmp_path))
    assert answer.code == 2
    assert "cannot be written: Is a directory" in answer.err
    assert calls == []


def test_where_nothing_has_changed_nothing_runs(fictl, repo: Path, asked, monkeypatch) -> None:
    calls = asked(TestReport((PASSED,)))
    monkeypatch.setattr("fictl.builds.changed.changed_since", lambda revision, folders: ())
    answer = fictl("test", "--changed")
    assert (answer.code, answer.out, calls) == (0, "no op has changed since HEAD\n", [])


def test_what_has_changed_runs_and_is_named(fictl, repo: Path, asked, monkeypatch) -> None:
    calls = asked(TestReport((PASSED,)))
    monkeypatch.setattr("fictl.builds.changed.changed_since", lambda revision, folders: folders[:1])
    answer = fictl("test", "--changed", "HEAD~3")
    assert calls[0][0] == ["my_kernels/elementwise/halve"]
    assert "changed since HEAD~3: halve" in answer.err


def test_an_unknown_op_is_named(fictl, repo: Path) -> None:
    answer = fictl("test", "halv")
    assert answer.code == 2
    assert "there is no op 'halv'" in answer.err


@pytest.mark.needs_nvcc
def test_a_small_op_is_really_tested(fictl, tiny: Path) -> None:
    answer = fictl("test", "twice", "--json", "-k", "not reference")
    assert answer.code == 0
    assert answer.document["data"]["passed"] == 2


def test_a_generated_test_is_run_by_its_name(fictl, tiny: Path, asked) -> None:
    calls = asked(TestReport((PASSED,)))
    name = "twice-1-int32,contiguous,seed=7"
    fictl("test", "twice", "--case", name)
    assert calls[0][:2] == (["tiny/elementwise/twice"], [f"--fictl-case={name}"])


def test_a_generated_test_that_there_is_not_is_refused_with_what_is_near(
    fictl, tiny: Path, asked
) -> None:
    calls = asked(TestReport((PASSED,)))
    answer = fictl("test", "twice", "--case", "twice-2-int32")
    assert answer.code == 2
    assert "there is no case 'twice-2-int32'" in answer.err
    assert "twice-1-int32" in answer.err
    assert calls == []
