"""fictl sanitize: what is said of findings, to people and to programs, and with which exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fictl.arch import parse_archs
from fictl.errors import FictlError, SetupError
from fictl.report.checked import CheckedOp, ToolCheck
from fictl.report.finding import DefectFinding
from fictl.report.outcome import TestOutcome
from fictl.report.suppression import Suppression
from fictl.report.test_report import TestReport
from fictl.sanitize.gpu import SanitizeRequest
from fictl.toolchain import Gpu

RACE = {"kind": "race", "test": "test_sum[1-f16]", "text": "race: read after write\n  at [k].cuh:3"}
SHOWN = {
    **RACE,
    "op": "halve",
    "folder": "my_kernels/elementwise/halve",
    "file": "halve.cuh",
    "line": 3,
}
OPS = ["my_kernels/elementwise/halve", "my_kernels/gemm/dense"]

SKIPPED = TestOutcome("test_it", "skipped", 0.0, "needs a GPU")


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Any]]:
    """Answer with these instead of checking; the list fills with what was asked."""

    def answer(*checked: CheckedOp) -> list[Any]:
        calls: list[Any] = []

        def check_ops(folders, say, arguments, suppressions, timeout, strict):
            calls.append(([str(folder) for folder in folders], arguments, suppressions, timeout))
            calls.extend(["strict"] * strict)
            say("pytest's own words")
            yield from checked

        monkeypatch.setattr("fictl.sanitize.emulated.check_ops", check_ops)
        monkeypatch.setattr("fictl.emu.toolchain.require_toolchain", object)
        return calls

    return answer


def halve(*findings: DefectFinding, passed: int = 3, **more: Any) -> CheckedOp:
    tests = TestReport((TestOutcome("test_it", "passed"),) * passed, seconds=1.24)
    return CheckedOp("my_kernels/elementwise/halve", tests, findings, **more)


def test_an_op_without_findings_is_one_line_and_exit_code_0(fictl, repo: Path, found) -> None:
    found(halve())
    answer = fictl("sanitize", "halve")
    assert answer.code == 0
    assert answer.out.splitlines() == [
        "emulated: no GPU was used",
        "✓ my_kernels/elementwise/halve  3 tests · 0 defects   1.2 s",
    ]
    assert "pytest's own words" in answer.err


def test_strict_is_passed_on(fictl, repo: Path, found) -> None:
    calls = found(halve())
    assert fictl("sanitize", "halve", "--strict").code == 0
    assert calls[-1] == "strict"


def test_strict_is_refused_on_a_gpu(fictl, repo: Path) -> None:
    answer = fictl("sanitize", "halve", "--strict", "--device", "cuda")
    assert answer.code == 2
    assert "--strict is of the emulated device" in answer.err


def test_a_defect_is_shown_with_its_tests_and_is_exit_code_1(fictl, repo: Path, found) -> None:
    found(halve(DefectFinding(RACE, tests=3)))
    answer = fictl("sanitize", "halve")
    assert answer.code == 1
    assert answer.out.splitlines()[1:] == [
        "✗ my_kernels/elementwise/halve  3 tests · 1 defect   1.2 s",
        "",
        "✗ race: read after write",
        "  at [k].cuh:3",
        "  first in test_sum[1-f16] and 2 more",
    ]


def test_what_is_accepted_is_counted_and_not_shown(fictl, repo: Path, found) -> None:
    found(halve(DefectFinding(RACE, suppressed="same value")))
    answer = fictl("sanitize", "halve")
    assert answer.code == 0
    assert "0 defects · 1 suppressed" in answer.out
    assert "read after write" not in answer.out


def test_a_suppression_that_nothing_matches_is_told(fictl, repo: Path, found) -> None:
    found(halve(unused=(Suppression("halve", "padding", "race", "a[1].cuh"),)))
    answer = fictl("sanitize", "halve")
    assert answer.code == 0
    assert "  nothing to suppress: halve race a[1].cuh (padding)" in answer.out


def test_a_test_that_ended_the_process_is_told_and_is_exit_code_1(fictl, repo: Path, found) -> None:
    problem = FictlError("test_sum ended the tests with SIGKILL", "-k runs it alone: test_sum")
    found(halve(passed=0, problem=problem))
    answer = fictl("sanitize", "halve")
    assert answer.code == 1
    assert "test_sum ended the tests with SIGKILL" in answer.err
    assert "-k runs it alone" in answer.err


def test_a_failed_test_without_a_report_is_exit_code_1(fictl, repo: Path, found) -> None:
    failed = TestOutcome("test_sum[1]", "failed", 0.0, "ended with SIGSEGV")
    found(CheckedOp("my_kernels/elementwise/halve", TestReport((failed,))))
    answer = fictl("sanitize", "halve")
    assert answer.code == 1
    assert "  failed test_sum[1]  ended with SIGSEGV" in answer.out.splitlines()


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        (("passed", "failed", "failed"), "3 tests · 0 defects · 2 failed"),
        (("failed",), "1 test · 0 defects · 1 failed"),
        (("passed", "skipped"), "1 test · 0 defects "),
        (("passed", "out of memory"), "2 tests · 0 defects "),
    ],
)
def test_tests_are_all_that_ran(fictl, repo: Path, found, outcomes, said: str) -> None:
    tests = tuple(TestOutcome(f"test_{n}", outcome) for n, outcome in enumerate(outcomes))
    found(CheckedOp("my_kernels/elementwise/halve", TestReport(tests)))
    assert f"halve  {said}" in fictl("sanitize", "halve").out


def test_where_no_test_could_run_it_is_exit_code_3(fictl, repo: Path, found) -> None:
    found(CheckedOp("my_kernels/gemm/dense", TestReport((SKIPPED,))))
    answer = fictl("sanitize", "dense")
    assert answer.code == 3
    assert "! my_kernels/gemm/dense  0 tests · 0 defects" in answer.out
    assert "  not run here: 1 (needs a GPU)" in answer.out


def test_of_several_ops_a_defect_counts_more_than_one_that_could_not_run(
    fictl, repo: Path, found
) -> None:
    nothing = CheckedOp("my_kernels/gemm/dense", TestReport((SKIPPED,)))
    found(halve(DefectFinding(RACE)), nothing)
    assert fictl("sanitize").code == 1


def test_json_is_one_document_with_an_item_for_each_op(fictl, repo: Path, found) -> None:
    found(halve(DefectFinding(RACE)))
    answer = fictl("sanitize", "halve", "--json")
    assert answer.code == 1
    assert answer.document == {
        "schema": "fictl.sanitize/1",
        "ok": False,
        "data": [
            {
                "op": "my_kernels/elementwise/halve",
                "passed": 3,
                "failed": [],
                "skipped": {},
                "seconds": 1.24,
                "findings": [
                    {"kind": "race", "test": "test_sum[1-f16]", "tests": 1, "suppressed": None}
                ],
                "checks": [],
                "problem": None,
            }
        ],
        "error": None,
    }
    assert answer.err == ""


def test_a_line_for_each_report_goes_to_a_file(fictl, repo: Path, found, tmp_path: Path) -> None:
    found(halve(DefectFinding(RACE), DefectFinding({**RACE, "kind": "hang"}, suppressed="slow")))
    fictl("sanitize", "halve", "--out", str(tmp_path / "reports.jsonl"))
    lines = (tmp_path / "reports.jsonl").read_text().splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["race", "hang"]


def test_without_names_it_is_every_op_of_the_project_here(fictl, repo: Path, found) -> None:
    calls = found()
    fictl("sanitize")
    assert calls == [(OPS, [], None, 900.0)]


def test_keyword_and_time_are_handed_on(fictl, repo: Path, found) -> None:
    calls = found()
    fictl("sanitize", "dense", "-k", "edge", "--timeout", "30")
    assert calls == [(["my_kernels/gemm/dense"], ["-k", "edge"], None, 30.0)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("halv",), "there is no op 'halv'"),
        (("--device", "gpu"), "--device='gpu' cannot be read"),
        (("--suppressions", "/nowhere/accepted.toml"), "/nowhere/accepted.toml"),
        (("--timeout", "long"), "long"),
    ],
)
def test_a_request_that_means_nothing_is_exit_code_2(fictl, repo, found, words, said) -> None:
    calls = found()
    answer = fictl("sanitize", *words)
    assert answer.code == 2
    assert said in answer.err
    assert calls == []


def test_the_environment_does_not_stop_it(fictl, repo: Path, found, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", "9.0a")
    calls = found(halve())
    assert fictl("sanitize", "halve").code == 0
    assert calls


def test_a_gpu_that_is_asked_for_and_is_not_there_is_told(fictl, repo: Path, found) -> None:
    calls = found()
    answer = fictl("sanitize", "halve", "--device", "cuda")
    assert answer.code == 3
    assert "there is no GPU here for compute-sanitizer" in answer.err
    assert "--device emu" in answer.err
    assert calls == []


def test_a_tool_of_the_gpu_is_refused_on_the_emulated_device(fictl, repo: Path, found) -> None:
    calls = found()
    answer = fictl("sanitize", "halve", "--tool", "memcheck")
    assert answer.code == 2
    assert "--tool memcheck is compute-sanitizer's" in answer.err
    assert calls == []


def test_a_case_is_handed_on(fictl, repo: Path, found) -> None:
    calls = found()
    fictl("sanitize", "halve", "--case", "halve-64-f16")
    assert calls[0][1] == ["--fictl-case=halve-64-f16"]


@pytest.mark.parametrize("option", ["--out", "--sarif", "--junit"])
def test_a_file_that_cannot_be_written_is_told_before_any_test(
    fictl, repo: Path, found, option: str
) -> None:
    calls = found(halve())
    answer = fictl("sanitize", "halve", option, "/nowhere/report")
    assert answer.code == 2
    assert f"{option} /nowhere/report cannot be written: No such file" in answer.err
    assert calls == []


def test_sarif_and_junit_are_files_beside_what_is_shown(
    fictl, repo: Path, found, tmp_path: Path
) -> None:
    found(halve(DefectFinding(SHOWN), checks=(ToolCheck("emulated", TestReport()),)))
    fictl(
        "sanitize",
        "halve",
        "--sarif",
        f"{tmp_path / 'a.sarif'}",
        "--junit",
        f"{tmp_path / 'a.xml'}",
    )
    (run,) = json.loads((tmp_path / "a.sarif").read_text())["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["race"]
    assert '<failure message="race: read after write">' in (tmp_path / "a.xml").read_text()


def test_without_headers_it_is_the_machines_fault(fictl, repo: Path, monkeypatch) -> None:
    monkeypatch.setattr("fictl.toolchain.headers.find_headers", lambda: None)
    answer = fictl("sanitize", "halve")
    assert answer.code == 3
    assert "no CUDA headers" in answer.err


# On a GPU: compute-sanitizer is a stand-in, and so is what it says.


@pytest.fixture
def gpu(found, program, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Any]]:
    """Answer with these; the list fills with what was asked."""
    program("compute-sanitizer", "echo Version 2025.3.1.0")
    h200 = (Gpu(0, "NVIDIA H200", parse_archs("9.0")[0]),)
    monkeypatch.setattr("fictl.toolchain.visible_gpus", lambda: h200)
    monkeypatch.setattr("fictl.toolchain.gpus.visible_gpus", lambda: h200)

    def answer(*checked: CheckedOp) -> list[Any]:
        calls: list[Any] = []

        def check_ops(folders, say, request):
            calls.append(request)
            yield from checked

        monkeypatch.setattr("fictl.sanitize.gpu.check_ops", check_ops)
        return calls

    return answer


def by(tool: str, **changes: Any) -> ToolCheck:
    return ToolCheck(tool, TestReport((TestOutcome("test_it", "passed"),), seconds=8.04), **changes)


def test_with_a_gpu_it_runs_there_under_every_tool(fictl, repo: Path, gpu) -> None:
    calls = gpu(halve(checks=(by("memcheck"), by("racecheck"))))
    answer = fictl("sanitize", "halve", "-k", "edge", "--timeout", "30", "--print-limit", "7")
    assert answer.code == 0
    assert answer.out.splitlines() == [
        "NVIDIA H200 · compute-sanitizer 2025.3.1",
        "✓ my_kernels/elementwise/halve  3 tests · 0 defects   1.2 s",
        "  memcheck 8.0 s · racecheck 8.0 s",
    ]
    tools = ("memcheck", "racecheck", "initcheck", "synccheck")
    assert calls == [SanitizeRequest(tools, ["-k", "edge"], None, 30.0, 7)]


@pytest.mark.parametrize(
    ("words", "tools"),
    [
        (("--tool", "racecheck"), ("racecheck",)),
        (("--tool", "initcheck", "--tool", "memcheck"), ("initcheck", "memcheck")),
        (("--tool", "memcheck,synccheck"), ("memcheck", "synccheck")),
    ],
)
def test_tools_are_chosen(fictl, repo: Path, gpu, words, tools) -> None:
    calls = gpu(halve())
    fictl("sanitize", "halve", *words)
    assert calls[0].tools == tools


def test_a_tool_that_there_is_not_is_refused(fictl, repo: Path, gpu) -> None:
    answer = fictl("sanitize", "halve", "--tool", "leakcheck")
    assert answer.code == 2
    assert "--tool leakcheck: there is no such tool" in answer.err
    assert "memcheck, racecheck, initcheck, synccheck" in answer.err


def test_the_emulated_device_is_taken_where_it_is_asked_for(fictl, repo: Path, gpu, found) -> None:
    calls = found(halve())
    answer = fictl("sanitize", "halve", "--device", "emu")
    assert answer.out.startswith("emulated: no GPU was used")
    assert calls


def test_without_the_program_it_is_said_how_to_get_it(
    fictl, repo: Path, gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fictl.sanitize.compute_sanitizer.find_tool", lambda name: None)
    answer = fictl("sanitize", "halve")
    assert answer.code == 3
    assert "compute-sanitizer was not found" in answer.err
    assert "apt install cuda-sanitizer-" in answer.err
    assert "--device emu" in answer.err


def test_a_defect_on_a_gpu_has_its_tool_and_how_often(fictl, repo: Path, gpu) -> None:
    facts = {**RACE, "tool": "racecheck", "accesses": 4000}
    gpu(
        halve(
            DefectFinding(facts, tests=2), checks=(by("memcheck"), by("racecheck", unprinted=900))
        )
    )
    answer = fictl("sanitize", "halve")
    assert answer.code == 1
    assert "  racecheck: first in test_sum[1-f16] and 1 more · 4000 accesses" in answer.out
    assert "  900 more reports of racecheck were not printed: mend these" in answer.out


def test_failures_where_a_defect_was_found_are_counted_with_it(fictl, repo: Path, gpu) -> None:
    facts = {**SHOWN, "tool": "memcheck", "test": "test_it"}
    failed = TestReport((TestOutcome("test_it", "failed", 0.0, "assert 1 == 2"),))
    check = ToolCheck("memcheck", failed, (facts,))
    gpu(CheckedOp(OPS[0], failed, (DefectFinding(facts),), checks=(check,)))
    answer = fictl("sanitize", "halve")
    assert "  1 test failed where this was found" in answer.out
    assert "assert 1 == 2" not in answer.out


def test_a_machine_that_cannot_is_exit_code_3(fictl, repo: Path, gpu) -> None:
    refused = SetupError("compute-sanitizer: it does not fit this driver", "install the other")
    gpu(halve(passed=0, problem=refused))
    answer = fictl("sanitize", "halve")
    assert answer.code == 3
    assert "it does not fit this driver" in answer.err
