"""NVIDIA's compute-sanitizer: how a program is run under one of its tools, and what they say of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from fictl.errors import SetupError, UsageError
from fictl.sanitize.records import records
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

# What a program under it returns where there is a report; fictl's own codes are 0 to 3.
_ERRORS = 66
# An access that goes astray goes no farther than this beyond an allocation, unseen.
_RED_ZONE = 512
# Why not for initcheck: what a kernel that is not looked at writes counts as never written.
_UNSEEN = ("kns=_ZN2at6native", "kns=at_cuda_detail")

_OPTIONS = {
    # Why kernel: the program goes on, and its later tests are looked at as well.
    "memcheck": (f"--padding={_RED_ZONE}", "--destroy-on-device-error=kernel"),
    "racecheck": ("--racecheck-report=analysis",),
    "synccheck": ("--destroy-on-device-error=kernel",),
}


def choose(words: Sequence[str]) -> tuple[str, ...]:
    """Those that are named, as in racecheck or memcheck,synccheck; all where none is."""
    asked = [tool.strip() for word in words for tool in word.split(",")]
    for tool in asked:
        if tool not in TOOLS:
            raise UsageError(f"--tool {tool}: there is no such tool", f"one of {', '.join(TOOLS)}")
    return tuple(dict.fromkeys(asked)) or TOOLS


def version() -> str:
    return version_of(_program())


def command(tool: str, limit: int = 1000) -> list[str]:
    """What stands before a program; `limit` is how many reports it prints."""
    unseen = () if tool == "initcheck" else (f"--kernel-name-exclude={name}" for name in _UNSEEN)
    return [
        str(_program()),
        f"--tool={tool}",
        *_OPTIONS.get(tool, ()),
        *unseen,
        f"--error-exitcode={_ERRORS}",
        f"--print-limit={limit}",
        # Files of one name lie in several folders.
        "--strip-paths=no",
        # Compilers that a program starts have nothing to look at, and are slowed down.
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
    """Line numbers in kernels, and an allocation for each tensor: torch's own cache hides its end."""
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
    """Why it could not look, from what it printed; None where it says nothing of the kind."""
    for line in re.findall(r"={9} (\S.*)", text):
        for pattern, why, hint in _REFUSALS:
            if re.search(pattern, line):
                return SetupError(f"compute-sanitizer: {why}: {line}", hint)
    return None
