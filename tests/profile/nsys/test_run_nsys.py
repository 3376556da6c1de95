"""nsys over a case, with stand-ins for nsys: what is kept, and what is said when it fails."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.case.options import CaseOptions
from fictl.errors import FictlError, SetupError
from fictl.process import TimedOut
from fictl.profile.nsys.run_nsys import API, COPIES, KERNELS, profile
from fictl.profile.request import ProfileRequest
from fictl.project import OpFolder

TESTS = Path(__file__).parents[2]
OP = TESTS / "tiny_project/kernels/elementwise/twice/op.py"

SAID = """printf '\\n\\036{"kind": "CaseChosen", "case": "twice-8"}\\n\\036{"kind": "Done"}\\n'"""
REPORTS = 'for word; do case $word in --output=*) echo it > "${word#--output=}";; esac; done'
STREAMS = (
    'for word; do case $word in --output=*) f="${word#--output=}"; '
    'echo it > "${f%.nsys-rep}.qdstrm";; esac; done'
)
NSYS = """
case "$*" in
*--version*) echo "NVIDIA Nsight Systems version 2025.3.1.0";;
stats*--report=cuda_gpu_kern_sum*) {stats}
  echo 'Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name'
  echo '100.0,650000,10,65000,65000,64000,67000,9,"void a::Twice<float>(float *)"';;
stats*) echo "SKIPPED: it does not contain such data.";;
*) {run};;
esac
"""


@pytest.fixture
def nsys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script) -> Callable[..., None]:
    """Put an nsys on PATH that does this for a run, and this before it prints a table."""

    def put(run: str, stats: str = "") -> None:
        (tmp_path / "bin").mkdir()
        script("bin/nsys", NSYS.format(run=run, stats=stats))
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")

    return put


@pytest.fixture
def request_of(tmp_path: Path) -> Callable[..., ProfileRequest]:
    def make(**options: float | str) -> ProfileRequest:
        chosen = CaseOptions(**{"case": "twice-8", **options})
        return ProfileRequest(OpFolder.of(OP), frozenset({"twice"}), chosen, 10, tmp_path / "out")

    return make


def test_the_report_is_kept_and_summed_up(nsys, request_of, tmp_path: Path) -> None:
    nsys(f"{SAID}; {REPORTS}")
    summary = profile(request_of())
    assert (summary.case, summary.calls, summary.version) == ("twice-8", 10, "2025.3.1")
    assert summary.path == tmp_path / "out" / "twice-8.nsys-rep"
    assert [row.count for row in summary.tables[KERNELS]] == [10]
    assert (summary.tables[COPIES], summary.tables[API]) == ((), ())
    (page,) = summary.pages
    assert page.name == f"twice-8.nsys.{KERNELS}.csv"
    assert page.read_text().startswith("Time (%),Total Time (ns),Instances")
    assert summary.to_dict()["tables"][KERNELS][0]["median"] == pytest.approx(65e-6)


def test_only_what_the_program_says_is_told(nsys, request_of) -> None:
    recorded = Path(__file__).parent / "recorded" / "profile.txt"
    nsys(f"echo 'building a thing'; cat {recorded}; {SAID}; {REPORTS}")
    lines: list[str] = []
    profile(request_of(), lines.append)
    assert lines == ["building a thing"]


def test_a_stream_without_a_report_and_an_importer_is_exit_code_3(nsys, request_of) -> None:
    nsys(f"{SAID}; {STREAMS}")
    with pytest.raises(SetupError, match=r"no QdstrmImporter: .*twice-8\.qdstrm is kept"):
        profile(request_of())


def test_a_stream_is_converted_even_where_nsys_hung(nsys, request_of, tmp_path, script) -> None:
    nsys(f"{SAID}; {STREAMS}; sleep 60")
    (tmp_path / "host").mkdir()
    script("host/QdstrmImporter", 'cp "$2" "$4"')
    assert profile(request_of(timeout=3)).tables[KERNELS]


def test_without_nsys_it_is_said_how_to_get_it(monkeypatch, request_of) -> None:
    monkeypatch.setattr("fictl.profile.nsys.run_nsys.find_profiler", lambda name: None)
    with pytest.raises(SetupError, match="not installed") as raised:
        profile(request_of())
    assert "apt install nsight-systems" in raised.value.hint


@pytest.mark.parametrize("said", ["", SAID])
def test_an_nsys_that_does_not_end_is_ended(nsys, request_of, said) -> None:
    nsys(f"{said or 'true'}; sleep 60")
    with pytest.raises(TimedOut, match=r"within 0\.3 s"):
        profile(request_of(timeout=0.3))


def test_the_programs_own_error_is_the_answer(nsys, request_of) -> None:
    error = '{"kind": "Failed", "message": "no such case", "hint": "h", "code": 2}'
    nsys(f"printf '\\n\\036{error}\\n'; exit 2")
    with pytest.raises(FictlError, match="no such case") as raised:
        profile(request_of())
    assert raised.value.exit_code == 2


def test_a_program_that_fell_is_exit_code_1(nsys, request_of) -> None:
    nsys("echo 'ImportError: no torch'; exit 1")
    with pytest.raises(FictlError, match="exit code 1") as raised:
        profile(request_of())
    assert (raised.value.exit_code, raised.value.hint) == (1, "ImportError: no torch")


@pytest.mark.parametrize(
    ("said", "code", "message"),
    [
        ("No data was collected", 1, "captured nothing"),
        ("Permission denied", 3, "may not trace here"),
        ("Segmentation fault", 3, "made no report"),
    ],
)
def test_a_run_without_a_report_is_diagnosed(nsys, request_of, said, code, message) -> None:
    nsys(f"{SAID}; echo '{said}'")
    with pytest.raises(FictlError, match=message) as raised:
        profile(request_of())
    assert raised.value.exit_code == code


def test_a_report_that_nsys_cannot_read_is_kept(nsys, request_of, tmp_path: Path) -> None:
    nsys(f"{SAID}; {REPORTS}", stats="echo 'cannot export'; exit 1;")
    with pytest.raises(SetupError, match="cannot export"):
        profile(request_of())
    assert (tmp_path / "out" / "twice-8.nsys-rep").is_file()
