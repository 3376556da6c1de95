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


def test_the_familys_shared_python_may_make_the_call(tree, problems) -> None:
    tree.edit(f"{_OP}/op.py", "kernel.halve(out, input, factor)", "launch(kernel, out)")
    tree.write("kernels/elementwise/_launch.py", "def launch(kernel, out): kernel.halve(out)\n")
    assert problems() == []
