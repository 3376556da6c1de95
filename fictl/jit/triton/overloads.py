"""The C++ that a launcher includes: the code of each kernel, and a function that launches it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fictl.jit.triton.cubin import Cubin, Kernel
from fictl.jit.triton.variant import ASSUMED, Variant

_HEADER = """\
// Made of {source} by {maker}: a function for each kernel, overloaded for its types. `grid`
// is called with the constants of the kernel as members of its argument, as Triton does.
#include <binding/cubin.h>
{includes}
namespace kernel {{

{functions}
}}  // namespace kernel
"""

_FUNCTION = """\
{codes}
// {call}
struct Constants{number} {{
{constants}}};

template <typename Grid>
cudaError_t {name}({parameters}) {{
{kernels}
{scratch}  void* arguments[] = {{{addresses}}};
  return {chosen}.launch(launch, grid(Constants{number}()), arguments);
}}
"""

# Triton adds two arguments for scratch memory, which these kernels do not need.
_HIDDEN = 2
_SCRATCH = "  void* scratch = nullptr;\n"
_INCLUDES = {"__nv_bfloat16": "cuda_bf16.h", "__half": "cuda_fp16.h", "__nv_fp8": "cuda_fp8.h"}
_LINE = 80


def header(
    source: str, maker: str, functions: Sequence[tuple[Kernel, ...]], hidden: int = _HIDDEN
) -> str:
    """Return the header. Each function has one kernel, or a specialised one and a general one.

    `maker` is the compiler with its version, `hidden` how many arguments it adds to each kernel.
    """
    types = " ".join(word for group in functions for word in group[0].variant.signature)
    includes = "".join(f"#include <{file}>\n" for word, file in _INCLUDES.items() if word in types)
    texts = (_function(number, group, hidden) for number, group in enumerate(functions))
    return _HEADER.format(source=source, maker=maker, includes=includes, functions="\n".join(texts))


def _function(number: int, kernels: Sequence[Kernel], hidden: int) -> str:
    variant = kernels[0].variant
    names = [f"kCubins{number}_{at}" for at in range(len(kernels))]
    parameters = [f"{cpp} {_parameter(name)}" for name, cpp in variant.arguments.items()]
    addresses = [f"&{_parameter(name)}" for name in variant.arguments]
    return _FUNCTION.format(
        codes="\n".join(map(_code, names, kernels)),
        call=_call(variant),
        number=number,
        name=variant.name,
        constants="".join(_constants(variant.constants)),
        parameters=", ".join(["const fictl::Launch& launch", "Grid grid", *parameters]),
        kernels="\n".join(
            f"  static const fictl::CubinKernel {word}({name});"
            for word, name in zip(("best", "general"), names, strict=False)
        ),
        scratch=_SCRATCH if hidden else "",
        addresses=", ".join([*addresses, *["&scratch"] * hidden]),
        chosen=_chosen(variant),
    )


def _parameter(name: str) -> str:
    """Return a parameter name that clashes with no other name in C++ or in the function."""
    return f"{name}_"


def _call(variant: Variant) -> str:
    """Spell a variant as its author wrote it."""
    types = (
        f"{name}: {text}{ASSUMED if at in variant.assumed else ''}"
        for at, (name, text) in enumerate(variant.types.items())
        if text != "constexpr"
    )
    numbers = (
        f"{name} = {value}" for name, value in {**variant.constants, **variant.options}.items()
    )
    return f"{variant.name}({', '.join(types)}), {', '.join(numbers)}"


def _chosen(variant: Variant) -> str:
    names = [_parameter(name) for at, name in enumerate(variant.types) if at in variant.assumed]
    return f"(fictl::multiples_of_16({', '.join(names)}) ? best : general)" if names else "best"


def _constants(constants: Mapping[str, Any]) -> Iterator[str]:
    """Yield the constants that C++ can express."""
    for name, value in constants.items():
        if isinstance(value, bool | int | float):
            cpp = {bool: "bool", int: "int64_t", float: "double"}[type(value)]
            text = str(value).lower() if isinstance(value, bool) else repr(value)
            yield f"  static constexpr {cpp} {name} = {text};\n"


def _code(name: str, kernel: Kernel) -> str:
    """Return the array of code, PTX first: the last entry that a GPU can run is the best."""
    images = [(c, c.ptx.encode(), True) for c in kernel.cubins if c.ptx]
    images += [(c, c.code, False) for c in kernel.cubins]
    codes = "".join(
        f"alignas(16) constexpr char {name}Code{at}[] =\n{literal(code)};\n"
        for at, (_, code, _) in enumerate(images)
    )
    rows = ",\n    ".join(
        _row(cubin, ptx, f"{name}Code{at}") for at, (cubin, _, ptx) in enumerate(images)
    )
    return f"{codes}constexpr fictl::Cubin {name}[] = {{\n    {rows}}};"


def _row(cubin: Cubin, ptx: bool, code: str) -> str:
    kind = "true" if ptx else "false"
    return (
        f'{{{cubin.arch}, {kind}, {code}, "{cubin.entry}", {cubin.threads}, {cubin.shared_bytes}}}'
    )


def literal(data: bytes) -> str:
    """Write bytes as string literals, which compilers read several times faster than numbers."""
    lines = (data[at : at + _LINE] for at in range(0, len(data), _LINE))
    return "\n".join(f'    "{"".join(map(_escaped, line))}"' for line in lines)


def _escaped(byte: int) -> str:
    """Escape a byte with three digits, since the next character may be a digit."""
    plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
    return chr(byte) if plain else f"\\{byte:03o}"
