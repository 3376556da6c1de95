"""ncu over a case, with stand-ins for ncu: what is kept, and what is said when it fails."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.case.options import CaseOptions
from fictl.errors import FictlError, SetupError, UsageError
from fictl.process import TimedOut
from fictl.profile.ncu.collection import Collection
from fictl.profile.ncu.run_ncu import _near, profile
from fictl.profile.request import ProfileRequest
from fictl.project import OpFolder

TESTS = Path(__file__).parents[2]
OP = TESTS / "tiny_project/kernels/elementwise/twice/op.py"
RECORDED = Path(__file__).parent / "recorded"

SAID = (
    """printf '\\n\\036{{"kind": "CaseChosen", "case": "twice-8"}}\\n\\036{{"kind": "Done"}}\\n'"""
)
NCU = """
case "$*" in
*--version*) echo "Version 2025.3.1.0 (build 36398880) (public-release)";;
*--page=raw*) cat {recorded}/raw.csv;;
*--page=details*) cat {recorded}/details.csv;;
*--page=source*) echo "==WARNING== no source";;
*) echo "$FICTL_JIT_LINEINFO" > {place}/lineinfo; {run};;
esac
"""
REPORTS = 'for word; do case $word in --export=*) echo it > "${{word#--export=}}";; esac; done'


@pytest.fixture
def ncu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script) -> Callable[[str], None]:
    """Put an ncu on PATH that does this for a run, and prints a recorded report."""

    def put(run: str) -> None:
        body = NCU.format(recorded=RECORDED, place=tmp_path, run=run.format())
        (tmp_path / "bin").mkdir()
        script("bin/ncu", body)
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")

    return put


@pytest.fixture
def request_of(tmp_path: Path) -> Callable[..., ProfileRequest]:
    def make(**options: float | str) -> ProfileRequest:
        chosen = CaseOptions(**{"case": "twice-8", **options})
        return ProfileRequest(OpFolder.of(OP), frozenset({"twice"}), chosen, 1, tmp_path / "out")

    return make


def test_the_report_and_its_pages_are_kept_and_told(ncu, request_of, tmp_path: Path) -> None:
    ncu(f"{SAID}; cat {RECORDED}/run.txt; {REPORTS}")
    lines: list[str] = []
    report = profile(request_of(), say=lines.append)
    assert (report.case, report.version, report.collected) == ("twice-8", "2025.3.1", "set full")
    assert report.path == tmp_path / "out" / "twice-8.ncu-rep"
    assert [page.name for page in report.pages] == [
        "twice-8.ncu.raw.csv",
        "twice-8.ncu.details.csv",
        "twice-8.ncu.source.csv",
    ]
    assert report.pages[0].read_text() == (RECORDED / "raw.csv").read_text()
    assert [digest.launches for digest in report.digests] == [2, 1]
    assert lines == [
        'ncu: "RMSNormKernel" - 0 (1/4): 0%....50%....100% - 38 passes',
        'ncu: "RMSNormKernel" - 1 (2/4): 0%....50%....100% - 38 passes',
        'ncu: "RMSNormKernel" - 2 (3/4): 0%....50%....100% - 38 passes',
        'ncu: "ScaleKernel" - 3 (4/4): 0%....50%....100% - 38 passes',
        "done",
    ]
    assert (tmp_path / "lineinfo").read_text() == "1\n"


def test_the_list_of_kernels_is_for_the_error_alone(ncu, request_of) -> None:
    ncu(f"{SAID}; cat {RECORDED}/no_kernel.txt")
    lines: list[str] = []
    with pytest.raises(UsageError, match="no kernel's name matches"):
        profile(request_of(), Collection(kernel="nosuch"), lines.append)
    assert lines == ["2000.0"]


def test_lines_of_the_ops_own_files_are_meant_before_those_of_headers(ncu, request_of) -> None:
    rank = _near(request_of().folder)
    project = TESTS / "tiny_project" / "kernels" / "include" / "tiny"
    own, other = project / "elementwise" / "twice.cuh", project / "device" / "vec.cuh"
    toolkit = "/usr/local/cuda/include/cuda_bf16.hpp"
    assert rank(str(own)) > rank(str(other)) > rank(toolkit)


def test_what_to_know_of_the_numbers_is_noted(ncu, request_of) -> None:
    ncu(f"{SAID}; cat {RECORDED}/run.txt; {REPORTS}")
    clocks, refused = profile(request_of()).notes
    assert "clocks were left alone" in clocks
    assert refused == "ncu has no access to 6 metrics of this GPU, as ctc__rx_bytes_data_user"
    locked = Collection(extra=("--clock-control=base",))
    assert len(profile(request_of(), locked).notes) == 1


def test_the_result_is_a_document(ncu, request_of) -> None:
    ncu(f"{SAID}; {REPORTS}")
    data = profile(request_of()).to_dict()
    assert data["tool"] == "ncu 2025.3.1"
    kernel = data["kernels"][0]
    assert kernel["remarks"][0]["facts"]["kind"] == "memory"
    assert kernel["rules"][0]["name"] == "CPIStall"


def test_an_old_report_is_not_taken_for_a_new_one(ncu, request_of, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "twice-8.ncu-rep").write_text("old")
    ncu(f"{SAID}; echo '==WARNING== No kernels were profiled.'")
    with pytest.raises(FictlError, match="launched no kernel"):
        profile(request_of())


def test_without_ncu_it_is_said_how_to_get_it(monkeypatch, request_of, tmp_path: Path) -> None:
    monkeypatch.setattr("fictl.profile.ncu.run_ncu.find_profiler", lambda name: None)
    with pytest.raises(SetupError, match="not installed") as raised:
        profile(request_of())
    assert "PATH" in raised.value.hint
    assert not (tmp_path / "out").exists()


def test_an_ncu_that_does_not_end_is_ended(ncu, request_of) -> None:
    ncu("sleep 60")
    with pytest.raises(TimedOut, match=r"within 0\.3 s") as raised:
        profile(request_of(timeout=0.3))
    assert "--set basic" in raised.value.hint


def test_a_failed_run_is_diagnosed(ncu, request_of) -> None:
    ncu("echo \"==ERROR== unrecognised option '--x'. Use --help\"; exit 1")
    with pytest.raises(UsageError, match="unrecognised option"):
        profile(request_of(), Collection(extra=("--x",)))


def test_a_report_that_ncu_cannot_read_is_an_error(ncu, request_of) -> None:
    ncu(f"{SAID}; {REPORTS}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fictl.profile.ncu.run_ncu._PAGES", {"raw": ("--version",)})
        with pytest.raises(FictlError, match="no table"):
            profile(request_of())
