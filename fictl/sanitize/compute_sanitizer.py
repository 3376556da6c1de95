"""NVIDIA's compute-sanitizer: command line, environment and refusals of its tools."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from fictl.errors import SetupError, UsageError
from fictl.sanitize.report_parser import records
from fictl.toolchain import find_nvcc, find_tool
from fictl.toolchain.profilers import version_of

__all__ = [
    "TOOLS",
    "choose",
    "command",
    "environment",
    "records",
    "refusal",
    "version",
]

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")

# Exit code if there are reports; fictl's own codes are 0 to 3.
_ERRORS = 66
# Bytes around each allocation in which a stray access is detected.
_RED_ZONE = 512
# Kernels of torch, which are not checked. Not for initcheck, which would not see their writes.
_UNSEEN = ("kns=_ZN2at6native", "kns=at_cuda_detail")

_OPTIONS = {
    # The kernel, so that the program continues and its later tests are checked as well.
    "memcheck": (f"--padding={_RED_ZONE}", "--destroy-on-device-error=kernel"),
    "racecheck": ("--racecheck-report=analysis",),
    "synccheck": ("--destroy-on-device-error=kernel",),
}


def choose(words: Sequence[str]) -> tuple[str, ...]:
    """Parse the named tools, as in racecheck or memcheck,synccheck; all tools if none is named."""
    asked = [tool.strip() for word in words for tool in word.split(",")]
    for tool in asked:
        if tool not in TOOLS:
            raise UsageError(f"--tool {tool}: there is no such tool", f"one of {', '.join(TOOLS)}")
    return tuple(dict.fromkeys(asked)) or TOOLS


def version() -> str:
    return version_of(_program())


def command(tool: str, limit: int = 1000) -> list[str]:
    """Command that runs a program under a tool, which prints at most `limit` reports."""
    unseen = () if tool == "initcheck" else (f"--kernel-name-exclude={name}" for name in _UNSEEN)
    return [
        str(_program()),
        f"--tool={tool}",
        *_OPTIONS.get(tool, ()),
        *unseen,
        f"--error-exitcode={_ERRORS}",
        f"--print-limit={limit}",
        # Files of one name may be in several folders.
        "--strip-paths=no",
        # Not the compilers that a program starts, which would only be slower.
        "--target-processes=application-only",
    ]


def _program() -> Path:
    path = find_tool("compute-sanitizer")
    if path:
        return path
    nvcc = find_nvcc()
    release = nvcc.release.replace(".", "-") if nvcc else "13-0"
    raise SetupError(
        "compute-sanitizer was not found, which looks at kernels on a GPU",
        f"apt install cuda-sanitizer-{release}, or add its folder to PATH; --device emu checks "
        "without it",
    )


def environment() -> dict[str, str]:
    """Environment for line numbers in kernels, and without torch's cache of allocations.

    In torch's cache, the end of a tensor is not the end of an allocation.
    """
    return {
        "FICTL_JIT_LINEINFO": "1",
        "PYTORCH_NO_CUDA_MEMORY_CACHING": "1",
        "PYTORCH_CUDA_ALLOC_CONF": "",
        "PYTORCH_ALLOC_CONF": "",
    }


_REFUSALS = (
    (
        r"[Dd]evice not supported|[Uu]nsupported (?:device|driver)|requires? a newer|[Vv]ersion mismatch",
        "it does not fit this driver or this GPU",
        "install the compute-sanitizer of the driver's CUDA release: apt install "
        "cuda-sanitizer-13-0 for CUDA 13.0; nvidia-smi says which it is",
    ),
    (
        r"[Uu]nable to (?:attach|connect|inject|launch)|launching target app|ptrace|[Oo]peration not permitted|"
        r"[Pp]ermission denied|Timed out (?:waiting|trying)",
        "it may not look into the process",
        "in a container: start it with --cap-add=SYS_PTRACE; else as root: sysctl "
        "kernel.yama.ptrace_scope=0",
    ),
    (
        r"[Nn]o attachable process found|before first instrumented API call",
        "the program used no CUDA",
        "fictl doctor says whether there is a GPU that works",
    ),
)


def refusal(text: str) -> SetupError | None:
    """Error from a tool's output if it could not check anything; else None."""
    for line in re.findall(r"={9} (\S.*)", text):
        for pattern, why, hint in _REFUSALS:
            if re.search(pattern, line):
                return SetupError(f"compute-sanitizer: {why}: {line}", hint)
    return None
