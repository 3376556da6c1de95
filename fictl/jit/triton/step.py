"""The build step that runs Triton: its GPU targets and its command."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from fictl.arch import Arch, known_gpus, unique
from fictl.errors import NotInstalled, UsageError
from fictl.paths import matching, same_packages

COMPILER = "fictl.jit.triton.compile"

# From here on Triton compiles for one GPU only, like `9.0a`.
_EXACT = Arch(9, 0)


def command(
    source: Path, archs: Iterable[Arch], output: str, *, line_info: bool
) -> tuple[str, ...]:
    """Return the command that writes `output`, run in the build's folder."""
    words = (f"{arch.number}{'+ptx' if arch.ptx else ''}" for arch in targets(source.name, archs))
    return (
        "env",
        "TRITON_INTERPRET=0",
        f"TRITON_DISABLE_LINE_INFO={0 if line_info else 1}",
        *(f"{name}={value}" for name, value in same_packages().items()),
        sys.executable,
        "-m",
        COMPILER,
        str(source),
        *words,
        "-o",
        output,
    )


def targets(name: str, archs: Iterable[Arch]) -> tuple[Arch, ...]:
    """Return Triton's targets, so that its code runs wherever nvcc's code for `archs` runs."""
    return unique(target for arch in archs for target in _targets(name, arch))


def require(module: str, identity: Mapping[str, str]) -> None:
    if "triton" not in identity:
        raise NotInstalled(
            f"{module} has a kernel in Triton, which is not installed",
            'pip install "fictl[triton]"; where a build of it is at hand, as in a wheel of '
            "fictl aot build, Triton is not needed",
        )


@cache
def own_digest() -> str:
    """Return a digest of the files that define the C++ around the cubins."""
    texts = (path.read_bytes() for path in matching(Path(__file__).parent, "*.py"))
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def _targets(name: str, arch: Arch) -> Iterator[Arch]:
    if arch.plain < _EXACT:
        yield Arch(arch.major, arch.minor, ptx=arch.ptx)
    elif arch.ptx:
        raise UsageError(
            f"{name}: no {arch}: Triton's PTX for {arch.plain} runs on that GPU alone",
            f"name the GPUs instead, as in '8.0+PTX {arch.plain}a'",
        )
    else:
        gpus = [gpu for gpu in known_gpus() if gpu.major == arch.major and arch.runs_on(gpu)]
        yield from gpus or [arch.plain]
