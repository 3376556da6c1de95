"""CuTe DSL without a GPU: the variants of a kernel.py, as C++ that holds their cubins.

python -m fictl.jit.cute.compile kernel.py 80+ptx 90 -o kernel.inc    (ninja runs it, in the build's folder)
"""

from __future__ import annotations

import importlib.metadata
import inspect
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fictl.errors import UsageError
from fictl.jit.triton.compile import run, variants_in
from fictl.jit.triton.cubin import Cubin, Kernel
from fictl.jit.triton.overloads import header
from fictl.jit.triton.variant import Variant, read_variant

PACKAGE = "nvidia-cutlass-dsl"
_ALIGNED = 16
# What a kernel is launched with; its other constants are its own.
_OPTIONS = ("threads", "shared_bytes")
# From here on its code is for one GPU, like `9.0a`.
_EXACT = 90
_NUMBERS = {
    "i1": "Boolean",
    "i8": "Int8",
    "i16": "Int16",
    "i32": "Int32",
    "i64": "Int64",
    "u8": "Uint8",
    "u16": "Uint16",
    "u32": "Uint32",
    "u64": "Uint64",
    "fp16": "Float16",
    "bf16": "BFloat16",
    "fp32": "Float32",
    "fp64": "Float64",
    "fp8e4nv": "Float8E4M3FN",
    "fp8e5": "Float8E5M2",
}


@dataclass(frozen=True)
class CuteParameter:
    """A parameter of a kernel."""

    name: str
    is_constexpr: bool


@dataclass(frozen=True)
class CuteKernel:
    """A function with @cute.kernel, as variants describe it."""

    function: Any
    params: tuple[CuteParameter, ...]
    __name__: str

    @classmethod
    def of(cls, function: Any) -> CuteKernel:
        name = getattr(function, "__name__", "")
        if not callable(function) or not name:
            raise UsageError(f"variants() yields {function!r}, which is not a @cute.kernel")
        parameters = inspect.signature(function).parameters.values()
        params = tuple(CuteParameter(p.name, _is_constant(p.annotation)) for p in parameters)
        return cls(function, params, name)


def main(words: list[str]) -> str | None:
    """Compile; return the error as a compiler diagnostic, None on success."""
    return run(words, compiled)


def compiled(source: Path, targets: Collection[str]) -> str:
    """Return the C++ of all variants for all targets."""
    functions = [
        tuple(
            Kernel(variant, tuple(_cubin(variant, target) for target in targets))
            for variant in both
        )
        for both in variants_in(source, _read)
    ]
    maker = f"CuTe DSL {importlib.metadata.version(PACKAGE)}"
    return header(source.name, maker, functions, hidden=0)


def _read(function: Any, given: Mapping[str, Any]) -> Variant:
    kernel = CuteKernel.of(function)
    variant = read_variant(kernel, given)
    constant = [parameter.is_constexpr for parameter in kernel.params]
    if constant != sorted(constant):
        raise UsageError(f"{variant.name} has a constant before an argument: constants come last")
    for name in variant.options:
        if name not in _OPTIONS:
            raise UsageError(
                f"{name!r} is neither a parameter of {variant.name} nor one of {', '.join(_OPTIONS)}"
            )
    if not isinstance(variant.options.get("threads"), int):
        raise UsageError(f"variants() gives {variant.name} no threads, those of a block")
    return variant


def _cubin(variant: Variant, target: str) -> Cubin:
    from cutlass import cute

    from fictl.jit.cute.launch import launch

    number, ptx = int(target.removesuffix("+ptx")), target.endswith("+ptx")
    gpu = f"sm_{number}{'a' if number >= _EXACT else ''}"
    threads, shared = variant.options["threads"], variant.options.get("shared_bytes", 0)
    with TemporaryDirectory() as folder:
        try:
            code = cute.compile(
                launch,
                variant.function.function,
                _examples(variant),
                dict(variant.constants),
                threads,
                shared,
                options=f"--gpu-arch {gpu} --keep-cubin --keep-ptx --dump-dir {folder}",
            )
        except Exception as error:
            # Why: its report is drawn for a terminal; the cause has the line of the author's file.
            raise error.__cause__ or error from None
    (entry,) = code.kernel_info
    _check_parameters(variant, code.__ptx__, entry)
    return Cubin(number, code.__cubin__, code.__ptx__ if ptx else "", entry, shared, threads)


def _check_parameters(variant: Variant, ptx: str, entry: str) -> None:
    """Refuse a kernel whose code takes other parameters than the launcher passes."""
    head = ptx.partition(f".entry {entry}(")[2].partition(")")[0]
    count = head.count(".param ")
    if count != len(variant.arguments):
        raise UsageError(
            f"the code of {variant.name} takes {count} parameters for {len(variant.arguments)} "
            "arguments: pass pointers and numbers alone"
        )


def _examples(variant: Variant) -> tuple[Any, ...]:
    """Arguments of the kernel's types; their values count for nothing."""
    return tuple(
        _example(text, at in variant.assumed)
        for at, text in enumerate(variant.types.values())
        if text != "constexpr"
    )


def _example(text: str, assumed: bool) -> Any:
    import cutlass
    from cutlass import cute
    from cutlass.cute.runtime import make_ptr

    number = getattr(cutlass, _NUMBERS[text.removeprefix("*")])
    if not text.startswith("*"):
        return number(1)
    align = _ALIGNED if assumed else max(number.width // 8, 1)
    return make_ptr(number, _ALIGNED, cute.AddressSpace.gmem, assumed_align=align)


def _is_constant(annotation: Any) -> bool:
    import cutlass

    known = getattr(annotation, "__origin__", annotation)
    return known is cutlass.Constexpr or str(known).rpartition(".")[2].startswith("Constexpr")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
