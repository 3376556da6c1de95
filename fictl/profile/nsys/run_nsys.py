"""Run Nsight Systems on one case, keep its report, and read the output of `nsys stats`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from fictl.errors import FictlError, SetupError
from fictl.process import Finished, TimedOut, run
from fictl.profile.launched import Launched, launch
from fictl.profile.nsys.convert import convert
from fictl.profile.nsys.summary import NsysSummary
from fictl.profile.nsys.table import Row, parse_rows, table
from fictl.profile.request import ProfileRequest
from fictl.toolchain.profilers import find_profiler, version_of

KERNELS, COPIES, API = "cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "cuda_api_sum"

_GET_IT = "apt install nsight-systems, or add the folder of nsys to PATH; fictl doctor"
_RECORD = (
    "profile",
    "--trace=cuda,nvtx",
    "--capture-range=cudaProfilerApi",
    "--capture-range-end=stop",
    "--sample=none",
    "--cpuctxsw=none",
    "--force-overwrite=true",
)
_STATS_SECONDS = 120.0
# Lines of nsys, which have no mark.
_ITS_OWN = re.compile(
    r"\[\d+/\d+\] \[|Capture range |Generating |Generated:|Processing events|Importer error"
    r"|Unable to retrieve the importer|Collecting data|\s+\S.*\.(?:nsys-rep|qdstrm)$"
)


def profile(
    request: ProfileRequest, say: Callable[[str], object] = lambda line: None
) -> NsysSummary:
    """Profile a case. `say` receives the program's output."""
    nsys = find_profiler("nsys")
    if nsys is None:
        raise SetupError("nsys (Nsight Systems) is not installed", _GET_IT)
    report = request.file(".nsys-rep")
    stream = report.with_suffix(".qdstrm")
    for old in (report, stream):
        old.unlink(missing_ok=True)
    launched = launch([nsys, *_RECORD, f"--output={report}"], request, _program(say), {})
    _require_calls(launched, request)
    if not os.path.isfile(report) and os.path.isfile(stream):
        convert(nsys, stream, report)
    if not os.path.isfile(report):
        raise _no_report(launched, request)
    tables, pages = _tables(nsys, report)
    return NsysSummary(
        str(request.folder), launched.case, request.calls, version_of(nsys), report, pages, tables
    )


def _program(say: Callable[[str], object]) -> Callable[[str], None]:
    def hear(line: str) -> None:
        if not _ITS_OWN.match(line):
            say(line)

    return hear


def _require_calls(launched: Launched, request: ProfileRequest) -> None:
    if launched.error:
        raise launched.error
    if not launched.done and launched.late:
        raise _late(request)
    if not launched.done:
        raise FictlError(
            f"the program ended before its calls did (exit code {launched.code})",
            launched.last_words(),
        )


def _late(request: ProfileRequest) -> TimedOut:
    return TimedOut(
        f"nsys did not end within {request.options.timeout:g} s",
        "fewer --calls, or --timeout gives more; an nsys that hangs after 'Generating' lacks its "
        "importer: apt install nsight-systems",
    )


def _no_report(launched: Launched, request: ProfileRequest) -> FictlError:
    """Error for a missing report: usually nothing was captured, or nsys may not trace here."""
    output = launched.output
    if launched.late:
        return _late(request)
    if re.search(r"[Nn]o (?:data|capture)|was never (?:started|triggered)", output):
        return FictlError("nsys captured nothing: the calls launched nothing", output[-500:])
    if re.search(r"[Pp]ermission|privileges", output):
        hint = "in a container: start it with --cap-add=SYS_ADMIN; else sysctl "
        return SetupError(
            f"nsys may not trace here: {output[-500:]}", hint + "kernel.perf_event_paranoid=2"
        )
    return SetupError(f"nsys made no report: {output[-500:] or 'it says nothing'}", "fictl doctor")


def _tables(nsys: Path, report: Path) -> tuple[dict[str, tuple[Row, ...]], tuple[Path, ...]]:
    """Read one report at a time: in a joint document nsys does not mark where the next begins."""
    tables: dict[str, tuple[Row, ...]] = {}
    pages = []
    for name in (KERNELS, COPIES, API):
        text = table(_stats(nsys, report, name).output)
        tables[name] = parse_rows(text)
        if tables[name]:
            page = report.with_name(f"{report.name.removesuffix('.nsys-rep')}.nsys.{name}.csv")
            page.write_text(text, encoding="utf-8")
            pages.append(page)
    report.with_suffix(".sqlite").unlink(missing_ok=True)  # It was made for the tables.
    return tables, tuple(pages)


def _stats(nsys: Path, report: Path, name: str) -> Finished:
    argv: list[str | Path] = [
        nsys,
        "stats",
        "--force-export=true",
        "--format=csv",
        f"--report={name}",
        report,
    ]
    done = run(argv, timeout=_STATS_SECONDS)
    if done.code:
        last = next(reversed(done.output.strip().splitlines()), "nothing")
        raise SetupError(
            f"nsys stats cannot read {report}: {last}",
            "it is kept: open it in Nsight Systems, or install a complete one",
        )
    return done
