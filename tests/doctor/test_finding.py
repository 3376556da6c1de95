"""Verdicts, exit codes and the line that counts them."""

from __future__ import annotations

import pytest

from fictl.doctor import DoctorFinding, exit_code, tally
from fictl.doctor.finding import error, ok, warning

FINE = ok("python", "3.12")
HINT = warning("ncu", "not found", "install it")
BAD = error("nvcc", "none", "install one")
PROBE = DoctorFinding("probe: link", "error", "undefined", "…", probe=True)


@pytest.mark.parametrize(
    ("findings", "code"),
    [([], 0), ([FINE, HINT], 0), ([FINE, PROBE], 1), ([BAD], 3), ([PROBE, BAD], 3)],
)
def test_the_environment_explains_a_failed_probe_and_wins(findings, code):
    assert exit_code(findings) == code


def test_a_document_has_exactly_four_fields():
    assert PROBE.to_dict() == {
        "name": "probe: link",
        "level": "error",
        "found": "undefined",
        "fix": "…",
    }


def test_the_tally_counts_in_words():
    assert tally([FINE, HINT, BAD, HINT]) == "4 checks, 1 problem, 2 warnings"
    assert tally([FINE]) == "1 check, no problem"


def test_evidence_follows_the_verdict_on_lines_of_its_own():
    assert ok("nvcc", "13.0", "PATH: used", "conda: no nvcc").text.splitlines()[0] == "13.0"
