"""Python files of an export: valid, whatever an op's words and names are."""

from __future__ import annotations

import ast
import sys

from fictl.ship.hf_kernel.python_files import loader, module_file, package
from fictl.ship.hf_kernel.raw_function import RawFunction

HARD = RawFunction(
    "f",
    (("from", "torch.Tensor"), ("x", "torch.Tensor | None"), ("n", "int")),
    "int",
    'Say "hello\\n" with """quotes""" and \\x.\n\nx: see """.',
)
ANY = RawFunction("h", (("*arguments", "object"),), "object")
PLAIN = RawFunction("g", (("out", "torch.Tensor"),), "None")


def imports(text: str) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add("." * node.level + (node.module or ""))
    return names


def test_the_functions_of_one_module_are_those_of_the_package() -> None:
    text = package("A title.", ["module"], [HARD, PLAIN], layers=True)
    tree = ast.parse(text)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert [each.arg for each in functions["f"].args.args] == ["from_", "x", "n"]
    assert isinstance(functions["f"].body[-1], ast.Return)
    assert isinstance(functions["g"].body[-1], ast.Expr)
    assert "hello\\n" in (ast.get_docstring(functions["f"]) or "")
    assert imports(text) == {"torch", "._ops", "."}


def test_parameters_that_could_not_be_read_are_passed_on() -> None:
    (function,) = ast.parse(package("A title.", ["module"], [ANY], layers=False)).body[-2:-1]
    assert ast.unparse(function).endswith("return _module.h(*arguments)")
    assert "*arguments: object" in ast.unparse(function)


def test_several_modules_are_names_of_the_package() -> None:
    text = package("A title.", ["type_float", "type_half"], [PLAIN], layers=False)
    assert imports(text) == {"."}
    assert "def " not in text
    assert imports(module_file("type_half", [PLAIN])) == {"torch", "._ops"}


def test_the_loader_needs_nothing_but_tvm_ffi() -> None:
    text = loader(["module"], "libruntime.so")
    assert imports(text) - {*sys.stdlib_module_names} == {"tvm_ffi"}
    assert text.index("libruntime.so") < text.index("module.so")
    assert "ctypes" not in loader(["a", "b"], "")


def test_the_loader_of_a_gpus_modules_imports_torch_which_brings_the_cuda_runtime() -> None:
    text = loader(["module"], "")
    assert text.index("import torch ") < text.index("tvm_ffi.load_module")
