"""Tests nvcc's targets one by one, because `--list-gpu-code` omits 90a, 100f and others."""

from __future__ import annotations

import functools
import re
from dataclasses import replace

from fictl.arch import Arch
from fictl.errors import SetupError
from fictl.process import ask
from fictl.toolchain import memo
from fictl.toolchain.nvcc import Nvcc

# The messages of two generations of nvcc.
_REFUSAL = re.compile(r"Unsupported gpu architecture|is not defined for option 'gpu-architecture'")
_ACCEPTED = "No input files specified"


@functools.cache
def can_target(nvcc: Nvcc, arch: Arch) -> bool:
    """True if this nvcc compiles for `arch`; the answer is stored on disk per compiler."""
    argv = (str(nvcc.path),)
    # Keyed by build too, because a wrapper script may run another nvcc later.
    known: dict[str, bool] = memo.recall(argv).get(nvcc.identity, {})
    if arch.number not in known:
        known = {**known, arch.number: _ask(nvcc, arch)}
        memo.remember(argv, **{nvcc.identity: known})
    return known[arch.number]


def _ask(nvcc: Nvcc, arch: Arch) -> bool:
    # Without an input file, nvcc stops after parsing its flags: fast, and no host compiler runs.
    answer = ask([nvcc.path, "--dryrun", replace(arch, ptx=False).gencode])
    if answer.code == 0 or _ACCEPTED in answer.output:
        return True
    if _REFUSAL.search(answer.output):
        return False
    raise SetupError(
        f"{nvcc.path} does not say whether it can target sm_{arch.number}: {answer.output.strip()!r}",
        "run `fictl doctor`, or name another nvcc with FICTL_NVCC",
    )
