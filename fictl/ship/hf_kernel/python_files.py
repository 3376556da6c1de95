"""Texts of the Python files of an export. They import torch, the standard library and tvm_ffi."""

from __future__ import annotations

import keyword
from collections.abc import Iterator, Sequence

from fictl.ship.hf_kernel.raw_function import RawFunction

LOADER, FUNCTIONS, LAYERS = "_ops.py", "__init__.py", "layers.py"


def loader(stems: Sequence[str], runtime: str) -> str:
    """Return the file that loads the modules, named by `stems`; `runtime` is emulated ones'. Others
    take CUDA's from torch, which is of the variant's CUDA.
    """
    before = f'ctypes.CDLL(str(_HERE / "{runtime}"))\n' if runtime else ""
    names = "".join(f'{stem} = tvm_ffi.load_module(str(_HERE / "{stem}.so"))\n' for stem in stems)
    imports = "import ctypes\n" if runtime else ""
    torch = "" if runtime else "import torch  # noqa: F401 it brings the CUDA runtime\n"
    return (
        '"""Loads the compiled code, which needs no compiler and no fictl."""\n\n'
        f"{imports}from pathlib import Path\n\n{torch}import tvm_ffi\n\n"
        "_HERE = Path(__file__).parent\n"
        f"tvm_ffi.register_error(NotImplementedError)\n{before}{names}"
    )


def package(
    title: str, stems: Sequence[str], functions: Sequence[RawFunction], layers: bool
) -> str:
    """Return __init__.py: the functions of the only module, or one name for each of several."""
    if len(stems) > 1:
        body = "".join(f"from . import {stem}\n" for stem in stems)
        exported = [*stems]
    else:
        body = ""
        exported = [function.name for function in functions]
    extra = ["layers"] if layers else []
    listed = "".join(f'    "{name}",\n' for name in sorted([*exported, *extra]))
    head = f'"""{title}"""\n\n'
    if len(stems) == 1:
        head += f"import torch\n\nfrom ._ops import {stems[0]} as _module\n"
        body = "".join(map(_definition, functions))
    last = "\n\nfrom . import layers  # noqa: E402 it uses the functions above\n" if layers else ""
    return f"{head}{body}{last}\n__all__ = [\n{listed}]\n"


def module_file(stem: str, functions: Sequence[RawFunction]) -> str:
    """Return the file with the functions of one of several modules."""
    head = f'"""Functions of the module {stem}."""\n\nimport torch\n\n'
    return f"{head}from ._ops import {stem} as _module\n{''.join(map(_definition, functions))}"


def _definition(function: RawFunction) -> str:
    parameters = [(_safe(name), kind) for name, kind in function.parameters]
    listed = "".join(f"    {name}: {_quoted(kind)},\n" for name, kind in parameters)
    names = ", ".join(name for name, _ in parameters)
    returns = "" if function.result == "None" else "return "
    return (
        f"\n\ndef {function.name}(\n{listed}) -> {function.result}:\n"
        f"{''.join(_docstring(function))}"
        f"    {returns}_module.{function.name}({names})\n"
    )


def _docstring(function: RawFunction) -> Iterator[str]:
    """Yield the op's own words. What they say of defaults is said of the op, not of this."""
    text = function.doc or f"Call {function.name} of the compiled module."
    note = "Every argument is given, outputs too: the caller allocates them."
    lines = [*text.replace("\\", "\\\\").replace('"""', "'''").splitlines(), "", note]
    yield f'    """{lines[0]}\n'
    yield from (f"    {line}".rstrip() + "\n" for line in lines[1:])
    yield '    """\n'


def _quoted(kind: str) -> str:
    return f'"{kind}"' if "|" in kind else kind


def _safe(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name
