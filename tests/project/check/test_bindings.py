from __future__ import annotations

import pytest

_OP = "kernels/elementwise/halve"
_EXPORT = "TVM_FFI_DLL_EXPORT_TYPED_FUNC(halve, halve);\n"


def test_an_export_that_nobody_calls_is_a_problem(tree, problems) -> None:
    tree.edit(
        f"{_OP}/binding.cpp", _EXPORT, f"{_EXPORT}TVM_FFI_DLL_EXPORT_TYPED_FUNC(plan, plan);\n"
    )
    assert problems() == [f"exports {_OP}/binding.cpp:3 plan is exported and op.py never calls it"]


def test_a_call_without_an_export_is_a_problem(tree, problems) -> None:
    tree.edit(f"{_OP}/op.py", "kernel.halve(", "kernel.halved(")
    assert problems() == [
        f"exports {_OP}/binding.cpp:2 halve is exported and op.py never calls it",
        f"exports {_OP}/op.py:10 op.py calls halved; binding.cpp has no such export",
    ]


@pytest.mark.parametrize(
    "call",
    [
        "kernel[input.dtype, 128].halve(out)",
        "module_ = kernel[input.dtype]\n    module_.halve(out)",
        "run = kernel.halve\n    run(out)",
    ],
)
def test_a_call_is_seen_under_any_name_of_the_module(tree, problems, call: str) -> None:
    tree.edit(f"{_OP}/op.py", "kernel.halve(out, input, factor)", call)
    assert problems() == []


def test_a_class_may_keep_the_module(tree, problems) -> None:
    tree.write(
        f"{_OP}/op.py",
        "from fictl.op import KernelModule, op\nfrom .jit import module\n"
        "kernel = KernelModule(module)\n"
        "class halve:\n"
        "    def plan(self, input):\n        self._module = kernel[input.dtype]\n"
        '    @op(archs="8.0", dtypes="f16", mutates="out")\n'
        "    def run(self, factor, out=None):\n        self._module.halve(out, factor)\n",
    )
    assert problems() == []


@pytest.mark.parametrize("file", ["_launch.py", "_plan/launch.py"])
def test_the_familys_shared_python_may_make_the_call(tree, problems, file: str) -> None:
    tree.edit(f"{_OP}/op.py", "kernel.halve(out, input, factor)", "launch(kernel, out)")
    tree.write(f"kernels/elementwise/{file}", "def launch(kernel, out): kernel.halve(out)\n")
    assert problems() == []


_BINDING = """#include <binding/ffi.h>
namespace my_kernels::elementwise {
void halve(const Launch& launch, View out,
           View input, double factor);
}
namespace {
void halve(View out, View input, double factor) { fictl::call(__func__, input, other, out); }
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(halve, halve);
"""


def _launcher(parameters: str) -> str:
    return (
        "#include <binding/launch.h>\n#include <my_kernels/elementwise/halve.cuh>\n"
        f"namespace my_kernels::elementwise {{\nvoid halve({parameters}) {{\n}}\n}}\n"
    )


@pytest.mark.parametrize(
    "parameters",
    [
        "const Launch& launch, View out, View input, double factor",
        "const fictl::Launch& l, fictl::View y, View x, const double f",
        "const Launch&, View, View, double",
    ],
)
def test_what_the_binding_declares_is_what_the_launcher_has(tree, problems, parameters) -> None:
    tree.write(f"{_OP}/binding.cpp", _BINDING)
    tree.write(f"{_OP}/launcher.cu", _launcher(parameters))
    assert problems() == []


@pytest.mark.parametrize(
    ("parameters", "types"),
    [
        ("const Launch& launch, View out, View input", "Launch, View, View"),
        ("const Launch& launch, View out, View input, float f", "Launch, View, View, float"),
    ],
)
def test_a_launcher_that_drifted_from_its_declaration_is_a_problem(
    tree, problems, parameters: str, types: str
) -> None:
    tree.write(f"{_OP}/binding.cpp", _BINDING)
    tree.write(f"{_OP}/launcher.cu", _launcher(parameters))
    assert problems() == [
        f"declares {_OP}/binding.cpp:3 halve(Launch, View, View, double) is declared, "
        f"launcher.cu has halve({types})"
    ]


def test_each_backend_s_launcher_is_compared(tree, problems) -> None:
    tree.write(f"{_OP}/binding.cpp", _BINDING)
    tree.write(f"{_OP}/launcher.cu", _launcher("const Launch&, View, View, double"))
    tree.write(f"{_OP}/launcher_sm90.cu", _launcher("const Launch&, View"))
    assert problems() == [
        f"declares {_OP}/binding.cpp:3 halve(Launch, View, View, double) is declared, "
        "launcher_sm90.cu has halve(Launch, View)"
    ]


def test_one_of_several_overloads_is_enough(tree, problems) -> None:
    tree.write(f"{_OP}/binding.cpp", _BINDING)
    both = _launcher("const Launch&, View, View, double") + _launcher("const Launch&, int")
    tree.write(f"{_OP}/launcher.cu", both)
    assert problems() == []
