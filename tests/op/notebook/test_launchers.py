"""What is found in a CUDA text, and the binding written for it."""

from __future__ import annotations

import pytest

from fictl.errors import UsageError
from fictl.op.notebook.launchers import Launcher, binding, chosen, launchers

TEXT = """
namespace mine::ops {
template <typename T> void typed(const Launch& launch, View x) { if (true) { } }
static void local(const Launch& launch, View x) {}
void scale(const Launch& launch, View out, const View& input, double factor) {
  const char brace = '{';
  log("}");
}
namespace {
void hidden(const Launch& launch, View x) {}
}
void declared(const Launch& launch, View x);
}
struct Class { void method(const Launch&, View x) {} };
void reset(const fictl::Launch&, fictl::View x) {}
"""


def test_launchers_that_others_can_call_are_found_with_their_namespaces() -> None:
    assert list(launchers(TEXT)) == [
        Launcher(
            "mine::ops",
            "scale",
            (("View", "out"), ("const View&", "input"), ("double", "factor")),
        ),
        Launcher("", "reset", (("fictl::View", "x"),)),
    ]


def test_a_binding_checks_devices_and_calls_the_launcher_by_its_whole_name() -> None:
    scale = next(launchers(TEXT))
    assert (
        binding([scale])
        == """\
#include <binding/ffi.h>

namespace mine::ops {
using namespace fictl;
void scale(const Launch& launch, View out, const View& input, double factor);
}
namespace fictl::inline_binding {
void scale(View out, const View& input, double factor) {
  ::fictl::check_device(__func__, "out", out);
  ::fictl::check_device(__func__, "input", input);
  ::fictl::check_same_device(__func__, "input", input, "out", out);
  ::fictl::call(__func__, out, ::mine::ops::scale, out, input, factor);
}
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(scale, fictl::inline_binding::scale);
"""
    )


def test_all_are_exported_or_those_that_are_named() -> None:
    assert [launcher.name for launcher in chosen(TEXT, ())] == ["scale", "reset"]
    assert [launcher.name for launcher in chosen(TEXT, ["reset"])] == ["reset"]


@pytest.mark.parametrize(
    "signature",
    [
        "void mine::included(const Launch& launch, View out, int64_t n)",
        "mine::included(View out, int64_t n);",
    ],
)
def test_a_signature_stands_for_a_launcher_that_the_text_includes(signature: str) -> None:
    expected = Launcher("mine", "included", (("View", "out"), ("int64_t", "n")))
    assert chosen(TEXT, [signature]) == (expected,)


def test_a_type_with_a_comma_is_one_parameter() -> None:
    parsed = Launcher.parse("f", "const std::pair<int, int>& pair, View x")
    assert parsed.parameters == (("const std::pair<int, int>&", "pair"), ("View", "x"))


def test_a_name_that_is_no_launcher_is_answered_with_those_found() -> None:
    with pytest.raises(UsageError, match="no launcher 'scael'; those found: scale, reset"):
        chosen(TEXT, ["scael"])


def test_a_text_without_a_launcher_is_refused() -> None:
    with pytest.raises(UsageError, match="no launcher is defined"):
        chosen("__global__ void kernel(int* x) {}", ())


def test_a_launcher_without_a_tensor_is_refused() -> None:
    with pytest.raises(UsageError, match="f takes no View"):
        chosen("void f(const Launch& launch, int n) {}", ())


def test_a_parameter_without_a_name_is_refused() -> None:
    with pytest.raises(UsageError, match=r"f\( View, int\): cannot read its parameters"):
        chosen("void f(const Launch& launch, View, int) {}", ())
