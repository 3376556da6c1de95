"""Run Nsight Compute on one case, keep its report, and read it back as CSV."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from fictl import settings
from fictl.errors import FictlError, SetupError
from fictl.process import TimedOut, run
from fictl.profile.launched import Launched, launch
from fictl.profile.ncu.collection import Collection
from fictl.profile.ncu.diagnosis import MARKS, raise_problem, raise_without_numbers
from fictl.profile.ncu.digest.kernel import digests
from fictl.profile.ncu.launch import Launch, parse_launches
from fictl.profile.ncu.report import NcuReport
from fictl.profile.ncu.rule import parse_rules
from fictl.profile.ncu.source import parse_source
from fictl.profile.request import ProfileRequest
from fictl.project import OpFolder
from fictl.toolchain.profilers import find_profiler, version_of

# ncu repeats every launch for as many passes as its counters need, so one call is enough.
CALLS = 1

_GET_IT = "apt install cuda-nsight-compute-13-0, or add the folder of ncu to PATH; fictl doctor"
# Full names: shortened ones differ from those of the source page.
_PAGES = {
    "raw": ("--page=raw", "--print-units=base", "--rename-kernels=off"),
    "details": ("--page=details", "--print-details=all"),
    "source": ("--page=source", "--print-source=cuda,sass"),
}
_PAGE_SECONDS = 120.0
_AT = "==PROF== Profiling"
_LISTED = re.compile(r"Available Kernels:|\d+\. \w+")


def profile(
    request: ProfileRequest,
    collection: Collection | None = None,
    say: Callable[[str], object] = lambda line: None,
) -> NcuReport:
    """Profile a case. `say` receives ncu's progress by kernel, and the program's output."""
    collection = collection or Collection()
    ncu = find_profiler("ncu")
    if ncu is None:
        raise SetupError("ncu (Nsight Compute) is not installed", _GET_IT)
    version, path = version_of(ncu), request.file(".ncu-rep")
    path.unlink(missing_ok=True)  # ncu leaves one that is there where it profiled nothing.
    launched = _launch(ncu, request, collection, path, say)
    if launched.code or launched.error or not os.path.isfile(path):
        raise_problem(launched, collection, version)
    return _read(ncu, request, collection, launched, path, version)


def _read(
    ncu: Path,
    request: ProfileRequest,
    collection: Collection,
    launched: Launched,
    path: Path,
    version: str,
) -> NcuReport:
    pages = {name: _page(ncu, path, name) for name in _PAGES}
    texts = {name: page.read_text(encoding="utf-8") for name, page in pages.items()}
    launches = parse_launches(texts["raw"])
    _check(launches, version)
    sources = parse_source(texts["source"], _near(request.folder))
    return NcuReport(
        op=str(request.folder),
        case=launched.case,
        version=version,
        collected=collection.words,
        path=path,
        pages=tuple(pages.values()),
        digests=digests(launches, parse_rules(texts["details"]), sources),
        notes=tuple(_notes(launched, collection, launches)),
    )


def _launch(
    ncu: Path,
    request: ProfileRequest,
    collection: Collection,
    path: Path,
    say: Callable[[str], object],
) -> Launched:
    lines = {settings.JIT_LINEINFO.name: "1"}
    launched = launch([ncu, *collection.argv(path)], request, _progress(say), lines)
    if launched.late:
        raise TimedOut(
            f"ncu did not end within {request.options.timeout:g} s",
            "--set basic takes a quarter of the passes, --kernel picks kernels, --case a smaller "
            "case; --timeout gives more",
        )
    return launched


def _near(folder: OpFolder) -> Callable[[str], int]:
    """Distance of a file: the op's family comes first, then its project; a toolkit's
    files are far.
    """
    top = folder.project.top.resolve()

    def rank(path: str) -> int:
        place = Path(path)
        return (place.parent.name == folder.family) + place.is_relative_to(top)

    return rank


def _progress(say: Callable[[str], object]) -> Callable[[str], None]:
    def hear(line: str) -> None:
        if not line.startswith(MARKS) and not _LISTED.fullmatch(line):
            say(line)
        elif line.startswith(_AT):
            say(f"ncu: {line.removeprefix(_AT).strip()}")

    return hear


def _page(ncu: Path, report: Path, name: str) -> Path:
    """Write a page beside the report, as `CASE.ncu.raw.csv`."""
    done = run([ncu, f"--import={report}", "--csv", *_PAGES[name]], timeout=_PAGE_SECONDS)
    path = report.with_name(f"{report.name.removesuffix('.ncu-rep')}.ncu.{name}.csv")
    path.write_text(done.output, encoding="utf-8")
    if done.code and name == "raw":
        raise FictlError(f"ncu cannot read its own {report}", done.output.strip()[-500:])
    return path


def _check(launches: Sequence[Launch], version: str) -> None:
    for one in launches:
        raise_without_numbers(len(one.metrics), one.without, version)


def _notes(launched: Launched, collection: Collection, launches: Sequence[Launch]) -> Iterator[str]:
    if collection.leaves_clocks_alone:
        yield "clocks were left alone: times are those of other commands, and vary as they do"
    refused = re.search(r"Unable to access the following (\d+) metrics: (\w+)", launched.output)
    if refused:
        yield f"ncu has no access to {refused[1]} metrics of this GPU, as {refused[2]}"
    without = max((len(launch.without) for launch in launches), default=0)
    if without:
        yield f"{without} metrics have no value (nan): what needs them is not said"
