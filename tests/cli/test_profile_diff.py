"""fictl profile-diff: from two files of `fictl profile --json` to what changed, in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fictl.profile.ncu.digest.kernel import Digest, digests
from fictl.profile.ncu.launch import Launch, parse_launches
from fictl.profile.ncu.report import NcuReport
from fictl.profile.outcome import ProfileOutcome

RECORDED = Path(__file__).parents[1] / "profile" / "ncu" / "recorded" / "raw.csv"


def _slower(launch: Launch) -> Launch:
    """The launch with half as much again to move, twice the barriers and more registers."""
    changed = {
        "gpu__time_duration.sum": 1.5,
        "launch__registers_per_thread": 2.0,
        "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio": 2.0,
    }
    metrics = {name: value * changed.get(name, 1.0) for name, value in launch.metrics.items()}
    return Launch(launch.id, launch.kernel, launch.grid, launch.block, metrics)


def _save(path: Path, kernels: tuple[Digest, ...]) -> Path:
    report = NcuReport("fictl/norm/rmsnorm", "rmsnorm-64", "2025.3", "full", path, (), kernels)
    outcome = ProfileOutcome("fictl/norm/rmsnorm", "rmsnorm-64", report).to_dict()
    document: dict[str, Any] = {"schema": "fictl.profile/1", "ok": True, "data": [outcome]}
    path.write_text(json.dumps(document))
    return path


@pytest.fixture
def runs(tmp_path: Path) -> tuple[str, str]:
    launches = parse_launches(RECORDED.read_text())
    before = _save(tmp_path / "a.json", digests(launches, {}, {}))
    after = _save(tmp_path / "b.json", digests([*map(_slower, launches)], {}, {}))
    return str(before), str(after)


def test_it_says_which_kernel_which_stall_and_which_bytes(fictl, runs) -> None:
    answer = fictl("profile-diff", *runs)
    assert answer.code == 0
    words = " ".join(answer.out.split())
    assert (
        "norm::RMSNormKernel<__nv_bfloat16, __nv_bfloat16, 8, 0, 2, 1> 125.5 us → 188.3 us 1.50x"
        in words
    )
    assert "stall barrier 16 % → 27 % (+11): waiting for the other warps of the block" in words
    assert "DRAM 233 MiB → 350 MiB (+50 %)" in words
    assert "registers 16 → 32" in words
    assert "fictl compare says" in words


def test_json_has_every_number(fictl, runs) -> None:
    document = fictl("profile-diff", *runs, "--json").document
    assert document["schema"] == "fictl.profile-diff/1"
    (case,) = document["data"]["cases"]
    assert [kernel["seconds"]["ratio"] for kernel in case["kernels"]] == pytest.approx([1.5, 1.5])
    assert "barrier" in [change["name"] for change in case["kernels"][0]["stalls"]]


def test_no_name_of_a_file_is_a_command_of_the_terminal(fictl, tmp_path: Path) -> None:
    kernel = {"name": "\x1b]0;owned\x07K", "seconds": 1e-6}
    case = {"op": "a", "case": "\x1b[31mx", "result": {"kernels": [kernel]}}
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"schema": "fictl.profile/1", "data": [case]}))
    answer = fictl("profile-diff", str(path), str(path))
    assert answer.code == 0
    assert "\x1b" not in answer.out
    assert "owned" in answer.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "cannot be read as a profile"),
        ("[" * 100_000, "nested too deeply"),
        ('{"schema": "fictl.bench/1"}', "has the schema 'fictl.bench/1'"),
    ],
)
def test_a_file_of_another_kind_is_refused(
    fictl, runs, tmp_path: Path, text: str, said: str
) -> None:
    other = tmp_path / "other.json"
    other.write_text(text)
    answer = fictl("profile-diff", runs[0], str(other))
    assert answer.code == 2
    assert said in answer.err
    assert "fictl profile OP --json" in answer.err
