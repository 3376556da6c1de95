"""Triton without a GPU: the variants of a kernel.py, as C++ that holds their cubins.

python -m fictl.jit.triton.compile kernel.py 80+ptx 90 -o kernel.inc    (ninja runs it, in the build's folder)
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from fictl.errors import FictlError, UsageError
from fictl.jit.triton.cubin import Cubin, Kernel
from fictl.jit.triton.overloads import header
from fictl.jit.triton.variant import Variant, read_variant
from fictl.user_file import read_bytes, read_text

# Features that a launch would need and launchers do not support.
_UNMET = {
    "num_ctas": (1, "clusters of programs"),
    "global_scratch_size": (0, "scratch memory"),
    "launch_cooperative_grid": (False, "a cooperative launch"),
    "launch_pdl": (False, "a dependent launch"),
}


def main(words: list[str]) -> str | None:
    """Compile; return the error as a compiler diagnostic, None on success."""
    return run(words, compiled)


def run(words: list[str], compile_: Callable[[Path, Collection[str]], str]) -> str | None:
    """Write the header that a compiler of Python kernels makes; return its error, None on success."""
    source, *targets, _, output = words
    try:
        Path(output).write_text(compile_(Path(source), targets), encoding="utf-8")
    except (
        Exception
    ) as error:  # The author's kernel may raise anything; every error concerns the kernel.
        line, message = _diagnostic(error, Path(source))
        trace = "" if isinstance(error, FictlError) else traceback.format_exc()
        return f"{source}:{line}: error: {message}\n{trace}"
    return None


def compiled(source: Path, targets: Collection[str]) -> str:
    """Return the C++ of all variants for all targets."""
    import triton

    with TemporaryDirectory() as cache:
        triton.knobs.cache.dir = cache
        functions = [
            tuple(
                Kernel(variant, tuple(_cubin(variant, target) for target in targets))
                for variant in both
            )
            for both in variants_in(source, _read)
        ]
    return header(source.name, f"Triton {triton.__version__}", functions)


def variants_in(
    source: Path, read: Callable[[Any, Mapping[str, Any]], Variant]
) -> Iterator[tuple[Variant, ...]]:
    """Yield each variant with its assumptions, then without, for arguments that violate them."""
    variants = _loaded(source).get("variants")
    if not callable(variants):
        raise UsageError(f"there is no variants() in {source.name}")
    seen: set[tuple[str, ...]] = set()
    for function, given in variants():
        variant = read(function, given)
        if variant.signature in seen:
            types = ", ".join(variant.arguments.values())
            raise UsageError(f"variants() yields {variant.name}({types}) twice")
        seen.add(variant.signature)
        yield (variant, variant.general) if variant.assumed else (variant,)
    if not seen:
        raise UsageError("variants() yields none")


def _loaded(source: Path) -> dict[str, Any]:
    """Run the source's current text. Unlike an import, this writes nothing beside it."""
    module = ModuleType(source.stem)
    module.__file__ = str(source)
    sys.modules[source.stem] = module  # Triton looks here for a kernel's source.
    exec(compile(read_bytes(source), str(source), "exec"), vars(module))  # noqa: S102
    return vars(module)


def _read(function: Any, given: Mapping[str, Any]) -> Variant:
    """Read a variant; refuse unknown options, which Triton would ignore."""
    variant = read_variant(function, given)
    from triton.backends.nvidia.compiler import CUDAOptions

    for name in variant.options:
        if name not in CUDAOptions.__dataclass_fields__:
            raise UsageError(
                f"{name!r} is neither a parameter of {variant.name} nor an option of Triton"
            )
    return variant


def _cubin(variant: Variant, target: str) -> Cubin:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    number, ptx = target.removesuffix("+ptx"), target.endswith("+ptx")
    attrs = {(at,): [["tt.divisibility", 16]] for at in variant.assumed}
    kernel = triton.compile(
        ASTSource(variant.function, dict(variant.types), dict(variant.constants), attrs),
        target=GPUTarget("cuda", int(number), 32),
        options={"enable_fp_fusion": True, **variant.options},
    )
    for name, (met, what) in _UNMET.items():
        value = getattr(kernel.metadata, name, met)
        if value != met:
            raise UsageError(f"{variant.name} needs {what} ({name} is {value}), which is not done")
    return Cubin(
        int(number),
        kernel.asm["cubin"],
        kernel.asm["ptx"] if ptx else "",
        kernel.metadata.name,
        kernel.metadata.shared,
        32 * kernel.metadata.num_warps,
    )


def _diagnostic(error: Exception, source: Path) -> tuple[int, str]:
    """Return the line in the file, and the error there as one line."""
    while error.__cause__ is not None and hasattr(error.__cause__, "node"):
        error = error.__cause__  # type: ignore[assignment]  # Triton's cause is an exception, too.
    node: Any = getattr(error, "node", None)
    if node is not None:
        first = _line(source, str(getattr(error, "src", "")))
        message = getattr(error, "error_message", None) or type(error).__name__
        return first + node.lineno - 1, " ".join(str(message).split())
    if isinstance(error, FictlError):
        return _line(source, "def variants("), error.message
    frames = traceback.extract_tb(error.__traceback__)
    inside = (frame.lineno for frame in reversed(frames) if frame.filename == str(source))
    line = error.lineno if isinstance(error, SyntaxError) else next(inside, None)
    return line or 1, " ".join(f"{type(error).__name__}: {error}".split())


def _line(source: Path, text: str) -> int:
    """Return the line where the text first occurs; 1 if it does not."""
    above, match, _ = read_text(source).partition(text)
    return above.count("\n") + 1 if match else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
