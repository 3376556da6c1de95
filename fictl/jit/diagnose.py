"""A failed build in three lines: the first real error, what it usually means, how to repeat it."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from fictl.errors import FictlError, SetupError

_ERROR = re.compile(
    r"error\s*:|\berror\b[: ]|fatal\s*:|undefined reference|cannot find -l|No space left|quota|"
    r"Killed|died due to signal|Unsupported gpu|not defined for option|: not found",
    re.IGNORECASE,
)
_NOISE = re.compile(
    r"^(ninja: Entering|ninja: build stopped: (subcommands? failed|cannot make progress)|"
    r"collect2|In file included|from |\[\d+\] )|ld returned|errors? detected"
)
_KILLED = (
    r"died due to signal 9|Killed signal|(?m:(^|[:\d] +)Killed\b)|code=137|"
    r"out of memory allocating|Memory allocation failure"
)

# Pattern in the log -> hint. The first match is shown; patterns of the machine come first.
_OF_THE_MACHINE = (
    (_KILLED, "the system ran out of memory: FICTL_MAX_JOBS=1"),
    (
        r"No space left|Disk quota exceeded",
        "the disk of the cache or of TMPDIR is full: free some space, or set FICTL_WORKSPACE_BASE "
        "or TMPDIR to a folder with room",
    ),
    (
        r"unsupported GNU version|unsupported clang version",
        "this nvcc wants an older host compiler: set CXX to one, as in CXX=g++-12",
    ),
)
_HINTS = (
    *_OF_THE_MACHINE,
    (
        r"undefined reference to",
        "a function is declared but not defined so: compare its parameter types in binding.cpp "
        "and launcher.cu",
    ),
    (
        r"Unsupported gpu architecture|is not defined for option",
        "this nvcc lacks that architecture: a newer CUDA, or another FICTL_CUDA_ARCH_LIST",
    ),
    (r"cannot find -l", "a library is missing at link: extra_ldflags can add its -L"),
    (r"No such file or directory", "is its folder in include_dirs, and the name spelt so?"),
    (
        r"\(C7602\)",
        "an instruction needs more registers than the kernel has at entry: fewer threads in "
        "__launch_bounds__, or a smaller N of wgmma",
    ),
    (r"uses too much shared data", "static shared memory ends at 48 KB: make it dynamic"),
)


@dataclass(frozen=True)
class Diagnosis:
    first: str
    hint: str

    @property
    def exit_code(self) -> int:
        """The exit code: 1 if the module is wrong, 3 if the machine cannot build it."""
        machine = self.hint in (hint for _, hint in _OF_THE_MACHINE)
        return (SetupError if machine else FictlError).exit_code


class BuildFailed(FictlError):
    """A compiler failed."""

    code = "build-failed"

    def __init__(self, module: str, diagnosis: Diagnosis, folder: Path) -> None:
        repeat = f"ninja -v -C {shlex.quote(str(folder))}"
        hint = "\n  ".join(
            line
            for line in (diagnosis.hint, f"repeat: {repeat}", f"log: {folder / 'build.log'}")
            if line
        )
        super().__init__(f"{module} does not build: {diagnosis.first}", hint)
        self.folder = folder
        self.exit_code = diagnosis.exit_code


def diagnose(log: str) -> Diagnosis:
    lines = _said_by_compilers(log)
    first = next((line for line in lines if _ERROR.search(line) and not _NOISE.search(line)), "")
    hint = next((text for pattern, text in _HINTS if re.search(pattern, log)), "")
    return Diagnosis(first or "a compiler failed without a message", hint)


def ran_out_of_memory(log: str) -> bool:
    return re.search(_KILLED, log) is not None


def _said_by_compilers(log: str) -> list[str]:
    """Drop ninja's FAILED line and the command below it, which may contain any word."""
    lines = [line.strip() for line in log.splitlines()]
    failed = {at for at, line in enumerate(lines) if line.startswith("FAILED: ")}
    return [line for at, line in enumerate(lines) if not {at, at - 1} & failed]
