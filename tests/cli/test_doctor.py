"""fictl doctor: verdicts, exit codes, the document and the report."""

from __future__ import annotations

import pytest

from fictl import doctor
from fictl.doctor import DoctorFinding

FINE = DoctorFinding("nvcc", "ok", "13.0, /cuda/bin/nvcc\nCUDA_HOME: not set")
HINT = DoctorFinding("ncu", "warning", "not found", "install [it]")
BAD = DoctorFinding("C++ compiler", "error", "gcc 15\nbeside it: none", "CXX=g++-13")
PROBE = DoctorFinding("probe: link", "error", "undefined", "set CXX", probe=True)


@pytest.fixture
def finds(monkeypatch):
    def these(*findings: DoctorFinding) -> None:
        monkeypatch.setattr(doctor, "examine", lambda **_: list(findings))

    return these


@pytest.mark.parametrize(
    ("findings", "code"),
    [((FINE,), 0), ((FINE, HINT), 0), ((FINE, PROBE), 1), ((HINT, BAD), 3), ((BAD, PROBE), 3)],
)
def test_the_exit_code_tells_a_failed_probe_from_a_bad_environment(fictl, finds, findings, code):
    finds(*findings)
    assert fictl("doctor").code == code
    answer = fictl("doctor", "--json")
    assert (answer.code, answer.document["ok"]) == (code, code == 0)
    assert (answer.document["error"] is None) == (code == 0)


def test_the_document_has_every_finding(fictl, finds):
    finds(FINE, BAD)
    document = fictl("doctor", "--json").document
    assert document["schema"] == "fictl.doctor/1"
    assert document["data"] == {
        "findings": [
            {"name": each.name, "level": each.level, "found": each.text, "fix": each.fix}
            for each in (FINE, BAD)
        ]
    }
    assert document["error"]["message"] == "2 checks, 1 problem"


def test_problems_come_first_with_their_fix_and_the_count_last(fictl, finds):
    finds(FINE, HINT, BAD)
    assert fictl("doctor").out.splitlines() == [
        "✗ C++ compiler  gcc 15",
        "    beside it: none",
        "                → CXX=g++-13",
        "! ncu           not found",
        "                → install [it]",
        "✓ nvcc          13.0, /cuda/bin/nvcc",
        "3 checks, 1 problem, 1 warning",
    ]


def test_verbose_shows_what_a_good_verdict_rests_on(fictl, finds):
    finds(FINE)
    assert "    CUDA_HOME: not set" in fictl("doctor", "-v").out.splitlines()
    assert "CUDA_HOME" not in fictl("doctor").out


def test_a_report_is_markdown_and_nothing_else(fictl, finds):
    finds(FINE, BAD)
    answer = fictl("doctor", "--report")
    assert answer.code == 3
    assert answer.out.startswith("## Environment of fictl ")
    assert "- ✗ **C++ compiler**: gcc 15 → CXX=g++-13" in answer.out


def test_a_report_in_the_document_is_a_text_beside_the_findings(fictl, finds):
    finds(FINE)
    data = fictl("doctor", "--report", "--json").document["data"]
    assert set(data) == {"findings", "report"}
    assert data["report"].startswith("## Environment of fictl ")


@pytest.mark.needs_nvcc
def test_the_real_examination_answers_in_full(fictl):
    answer = fictl("doctor", "--json")
    findings = {each["name"]: each for each in answer.document["data"]["findings"]}
    assert answer.code in (0, 3)
    assert {"Python", "nvcc", "C++ compiler", "cache", "probe: load"} <= set(findings)
    assert findings["probe: load"]["level"] == "ok"
    assert all(each["fix"] for each in findings.values() if each["level"] != "ok")


@pytest.mark.needs_nvcc
def test_a_machine_that_builds_has_no_warning_for_its_lack_of_a_gpu(fictl):
    answer = fictl("doctor", "--for", "build", "--json")
    levels = {each["name"]: each["level"] for each in answer.document["data"]["findings"]}
    assert not {"driver", "GPU", "CUPTI", "ncu", "probe: launch"} & {*levels}
    assert answer.code == 0


def test_an_unknown_purpose_is_refused(fictl):
    answer = fictl("doctor", "--for", "fun")
    assert (answer.code, answer.err) == (
        2,
        "error: --for is 'fun'\n  hint: one of build, test, bench\n",
    )
