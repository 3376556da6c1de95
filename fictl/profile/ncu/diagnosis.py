"""Reasons why ncu measured nothing, and their fixes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fictl.errors import FictlError, SetupError, UsageError
from fictl.profile.launched import Launched
from fictl.profile.ncu.collection import Collection
from fictl.toolchain.profilers import OPEN_COUNTERS

MARKS = ("==PROF==", "==ERROR==", "==WARNING==")
_NEWER = (
    "install the Nsight Compute of this driver's CUDA release (nvidia-smi shows it), or a newer "
    "driver"
)

# ncu's message -> its meaning, and a fix. The first match counts.
_KNOWN = (
    (
        r"ERR_NVGPUCTRPERM",
        "this user may not read the GPU's hardware counters (ERR_NVGPUCTRPERM)",
        OPEN_COUNTERS,
    ),
    (
        r"driver resource was unavailable",
        "something else holds the GPU's hardware counters",
        "end other profilers; of DCGM: dcgmi profile --pause, and --resume afterwards",
    ),
    (
        r"LibraryNotLoaded|driver is not compatible|Failed to load Nsight Compute CUDA modules",
        "this ncu does not fit the driver",
        _NEWER,
    ),
    (
        r"failed to connect to the CUDA driver",
        "ncu found no CUDA driver: a stub libcuda.so is before it on the library path",
        "take the toolkit's lib64/stubs from LD_LIBRARY_PATH",
    ),
    (
        r"Profiling is not supported on",
        "this ncu cannot profile this GPU",
        f"ncu --list-chips shows those it knows; {_NEWER}; under WSL it needs Windows 11",
    ),
    (
        r"open/create lock file",
        "ncu cannot take its lock file, which another user left",
        "TMPDIR=<a folder of your own> fictl profile …",
    ),
    (r"Unknown [Ee]rror on device", "ncu failed on this GPU", _NEWER),
)
_USAGE = re.compile(
    r"unrecognised option .*|the argument .* is invalid.*|No metrics to collect found in sections"
    r"|Option '.*' did not match any .*|Invalid regex .*|Failed to find metric .*"
)
_COUNTERS = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"


def raise_problem(launched: Launched, collection: Collection, version: str) -> None:
    """Raise the problem of a run without a report; the program's own error comes before ncu's."""
    output = launched.output
    for pattern, message, hint in _KNOWN:
        if re.search(pattern, _tools(launched)):
            raise SetupError(f"{message}: {_line(output, pattern)}", hint)
    if launched.error:
        raise launched.error
    refused = _USAGE.search(_tools(launched))
    if refused:
        raise UsageError(
            f"ncu {version}: {refused[0]}",
            "ncu --help, --list-sets and --list-sections show what there is",
        )
    if not launched.done:
        raise FictlError(
            f"the program ended before its calls did (exit code {launched.code})",
            launched.last_words(MARKS) or output[-500:],
        )
    if "No kernels were profiled" in output:
        raise _no_kernels(launched.lines, collection)
    errors = [line for line in launched.lines if line.startswith("==ERROR==")]
    said_last = errors or launched.lines[-1:] or ["nothing"]
    raise SetupError(f"ncu {version} made no report: {said_last[0]}", "\n".join(said_last[1:]))


def raise_without_numbers(measured: int, without: Sequence[str], version: str) -> None:
    """Raise an error if all counters are NaN, as ncu gives for a GPU or driver it supports only
    partly.
    """
    if _COUNTERS in without:
        raise SetupError(
            f"ncu {version} measured nothing: {len(without)} of {measured + len(without)} metrics "
            "have no value (nan)",
            _NEWER,
        )


def _no_kernels(lines: Sequence[str], collection: Collection) -> FictlError:
    known = [match[1] for line in lines if (match := re.fullmatch(r"\d+\. (.+)", line))]
    if collection.kernel:
        there = f"there are: {', '.join(known)}" if known else "the case launches no kernel"
        return UsageError(f"no kernel's name matches --kernel {collection.kernel}", there)
    return FictlError(
        "the case launched no kernel that ncu saw",
        "its calls launch nothing, or in another process; fictl test shows whether it works",
    )


def _tools(launched: Launched) -> str:
    """Lines of ncu without the program's. Before the program starts, ncu's lines have no mark."""
    own = [line for line in launched.lines if line.startswith(MARKS)]
    return "\n".join(own) or launched.output


def _line(text: str, pattern: str) -> str:
    matching = (line for line in text.splitlines() if re.search(pattern, line))
    return re.sub(r"^==\w+== ", "", next(matching, "")).strip()
