"""What torch is told of a binding's function is what its definition in C++ says."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.op.ffi.schema import Schema, read_schema


@pytest.fixture
def read(tmp_path: Path):
    """The schema of `f`, of a binding with this text, where ops write `out`."""

    def read(text: str, export: str = "TVM_FFI_DLL_EXPORT_TYPED_FUNC(f, f);") -> Schema:
        binding = tmp_path / "binding.cpp"
        binding.write_text(f"{text}\n{export}\n", encoding="utf-8")
        return read_schema([tmp_path / "binding.cpp"], "f", lambda _: {"out"})

    return read


@pytest.mark.parametrize(
    ("cpp", "torch"),
    [
        ("View x", "Tensor x"),
        ("tvm::ffi::TensorView x", "Tensor x"),
        ("const ffi::TensorView& x", "Tensor x"),
        ("tvm::ffi::Optional<fictl::View> x", "Tensor? x"),
        ("double x", "float x"),
        ("float x = 1.0f", "float x"),
        ("int64_t x", "SymInt x"),
        ("std::optional<int> x", "SymInt? x"),
        ("bool x", "bool x"),
        ("const std::string &x", "str x"),
        ("tvm::ffi::String x", "str x"),
        ("tvm::ffi::Array<int64_t> x", "SymInt[] x"),
        ("Optional<Array<double>> x", "float[]? x"),
    ],
)
def test_a_type_of_the_binding_is_one_of_torch(read, cpp: str, torch: str) -> None:
    schema = read(f"void f(View out, {cpp}) {{}}")
    assert schema.text("f") == f"f(Tensor(a0!) out, {torch}) -> ()"


def test_workspaces_are_written_as_well_as_what_the_ops_mutate(read) -> None:
    schema = read("void f(View input, View workspace_f32, Optional<View> out) {}")
    assert schema.text("g") == (
        "g(Tensor input, Tensor(a1!) workspace_f32, Tensor(a2!)? out) -> ()"
    )
    assert [each.name for each in schema.inputs] == ["input"]


def test_the_definition_counts_and_not_declarations_calls_or_comments(read) -> None:
    text = (
        "namespace lib { void f(const Launch& launch, View out); }\n"
        "// void f(View out, View old) {}\n"
        "void f(View out,\n       View input) {\n  call(lib::f, out);\n}"
    )
    assert read(text).text("f") == "f(Tensor(a0!) out, Tensor input) -> ()"


def test_the_symbol_may_have_another_name_and_a_namespace(read) -> None:
    schema = read("void impl(View out) {}", "TVM_FFI_DLL_EXPORT_TYPED_FUNC(f, ours::impl);")
    assert schema.text("f") == "f(Tensor(a0!) out) -> ()"


def test_a_function_without_tensors_may_return_a_number(read) -> None:
    schema = read("int64_t f(int64_t n) { return n; }")
    assert schema.tensors == ()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("void f(View out, Stream s) {}", r"binding\.cpp:1: 's' is a Stream"),
        ("void f(View out, View* x) {}", r"binding\.cpp:1: 'x' is a View\*"),
        ("\nint f(View out) {}", r"binding\.cpp:2: f takes tensors and returns int"),
        ("void f(View);", r"binding\.cpp:2: f cannot be read"),
        ("void f(View out) {}\nvoid f(View out, int n) {}", r"binding\.cpp:3: f cannot be read"),
    ],
)
def test_what_cannot_be_read_names_file_line_and_what_is_accepted(read, text, what) -> None:
    with pytest.raises(UsageError, match=what) as info:
        read(text)
    assert "void f(View out, View input, double factor)" in info.value.hint


def test_a_function_that_writes_nothing_known_is_refused(read) -> None:
    # Why: torch would drop the call, because nothing depends on it.
    with pytest.raises(UsageError, match="f writes none of its parameters result, input") as info:
        read("void f(View result, View input) {}")
    assert "mutates" in info.value.hint


def test_an_export_that_no_source_has_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="no source exports 'f'"):
        read_schema([tmp_path / "a.cpp"], "f", lambda _: ())
