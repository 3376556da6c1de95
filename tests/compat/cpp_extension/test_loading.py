"""torch's load and load_inline: the same arguments, modules that Python imports, builds kept by content."""

from __future__ import annotations

import inspect
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fictl.compat import cpp_extension
from fictl.compat.cpp_extension import load, load_inline
from fictl.compat.cpp_extension.extension import Extension
from fictl.compat.cpp_extension.inline_text import cpp_text, cuda_text
from fictl.errors import FictlError, UsageError

# Python's own API: a compile takes half a second, one with torch's headers half a minute.
PLAIN = """
#include <Python.h>
#include "answer.h"
#define INIT(name) INIT_(name)
#define INIT_(name) PyInit_##name
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "plain", nullptr, -1, nullptr};
extern "C" __attribute__((visibility("default"))) PyObject* INIT(TORCH_EXTENSION_NAME)() {
  PyObject* made = PyModule_Create(&module);
  PyModule_AddIntConstant(made, "answer", ANSWER);
  return made;
}
"""


@pytest.mark.parametrize("name", ["load", "load_inline"])
def test_arguments_are_those_of_torch(name: str) -> None:
    torchs = pytest.importorskip("torch.utils.cpp_extension")
    theirs = inspect.signature(getattr(torchs, name)).parameters
    ours = inspect.signature(getattr(cpp_extension, name)).parameters
    assert {key: parameter.default for key, parameter in ours.items()} == {
        key: parameter.default for key, parameter in theirs.items()
    }
    assert [*ours] == [*theirs]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"build_directory": "out"}, "build_directory cannot be honoured: builds are kept"),
        ({"is_standalone": True}, "is_standalone cannot be honoured"),
        ({"with_sycl": True}, "SYCL cannot be honoured"),
        ({"extra_sycl_cflags": ["-O3"]}, "SYCL cannot be honoured"),
        ({"extra_cflags": "-O3 -g"}, "extra_cflags is a text, not a list of flags"),
        ({"extra_ldflags": "-lm"}, "extra_ldflags is a text"),
    ],
)
def test_what_cannot_be_honoured_is_refused(tmp_path: Path, arguments, told: str) -> None:
    (tmp_path / "a.cpp").touch()
    with pytest.raises(UsageError, match=told):
        load("a", [tmp_path / "a.cpp"], **arguments)


def test_sources_that_are_not_there_and_names_that_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="does not exist"):
        load("a", str(tmp_path / "missing.cpp"))
    (tmp_path / "a.cpp").touch()
    with pytest.raises(UsageError, match="'a-b' cannot name an extension"):
        load("a-b", [tmp_path / "a.cpp"])
    with pytest.raises(UsageError, match="SYCL"):
        load_inline("a", "", sycl_sources="x")
    with pytest.raises(TypeError, match="functions is a int"):
        load_inline("a", "", functions=3)


def test_texts_have_the_includes_and_the_bindings_that_torch_adds() -> None:
    text = cpp_text(["int f();", "int g();"], {"f": 'of "f"\nin C++', "g": "g"}, True, True)
    assert text.splitlines() == [
        "#include <torch/extension.h>",
        "int f();",
        "int g();",
        "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {",
        'm.def("f", torch::wrap_pybind_function(f), "of \\"f\\"\\nin C++");',
        'm.def("g", torch::wrap_pybind_function(g), "g");',
        "}",
    ]
    assert cpp_text("int f();", "f", False, False).splitlines()[2] == 'm.def("f", f, "f");'
    assert cpp_text("int f();", None, True, False) == "int f();\n"
    headers = ["#include <torch/types.h>", "#include <cuda.h>", "#include <cuda_runtime.h>"]
    assert cuda_text("x", True).splitlines() == [*headers, "x"]


def test_flags_of_the_user_come_last(tmp_path: Path) -> None:
    for name in ("a.cpp", "a.cu"):
        (tmp_path / name).touch()
    sources = (tmp_path / "a.cpp", tmp_path / "a.cu")
    gencode = "-gencode=arch=compute_80,code=sm_80"
    spec = Extension("a", sources, ("-std=c++17", "-O3"), (gencode, "-lineinfo"), ("-lm",)).spec()
    assert spec.extra_cflags[-2:] == ("-std=c++17", "-O3")
    assert "-std=c++20" not in spec.extra_cflags
    assert spec.extra_cuda_cflags[-2:] == ("-std=c++20", "-lineinfo")
    assert [str(arch) for arch in spec.exact_archs] == ["8.0"]
    assert "-DTORCH_EXTENSION_NAME=a" in spec.extra_cuda_cflags
    assert spec.extra_ldflags.index("-lm") > spec.extra_ldflags.index("-ltorch_python")


@pytest.mark.needs_nvcc
def test_an_edited_header_makes_another_build_and_the_old_one_stays(users_cache, tmp_path) -> None:
    (tmp_path / "plain.cpp").write_text(PLAIN)
    (tmp_path / "include").mkdir()
    header = tmp_path / "include" / "answer.h"
    modules = {}
    for answer in (41, 42, 41):
        header.write_text(f"#define ANSWER {answer}\n")
        modules[answer] = load(
            "plain", [tmp_path / "plain.cpp"], extra_include_paths=[str(tmp_path / "include")]
        )
        assert modules[answer].answer == answer
    assert modules[41].__file__ != modules[42].__file__
    assert modules[41].answer == 41


@pytest.mark.needs_nvcc
def test_a_module_from_text_is_bound_with_pybind11(users_cache) -> None:
    words = {
        "functions": {"twice": "Twice it."},
        "extra_cflags": ["-O0"],
        "with_pytorch_error_handling": False,
        "no_implicit_headers": True,
    }
    text = "#include <pybind11/pybind11.h>\nint twice(int x) { return 2 * x; }"
    module = load_inline("bound", text, **words)
    assert module.twice(4) == 8
    assert "Twice it." in module.twice.__doc__
    assert load_inline("bound", [text], **words) is module


@pytest.mark.needs_nvcc
def test_a_library_that_is_no_module_is_loaded_all_the_same(users_cache, tmp_path) -> None:
    mark = tmp_path / "mark"
    text = f'__attribute__((constructor)) static void begin() {{ fopen("{mark}", "w"); }}'
    words = {"no_implicit_headers": True, "is_python_module": False}
    assert load_inline("registering", f"#include <cstdio>\n{text}", **words) is None
    assert mark.exists()
    with pytest.raises(FictlError, match="registering cannot be imported") as caught:
        load_inline("registering", f"#include <cstdio>\n{text}", no_implicit_headers=True)
    assert "PYBIND11_MODULE" in caught.value.hint


@pytest.mark.needs_nvcc
def test_callers_at_the_same_time_share_one_compile_and_one_module(users_cache, tmp_path) -> None:
    """Processes do too: the JIT's lock is between both (tests/faults/test_many_processes.py)."""
    (tmp_path / "answer.h").write_text(f"#define ANSWER 7 // {tmp_path}\n")
    (tmp_path / "plain.cpp").write_text(PLAIN)
    with ThreadPoolExecutor(2) as pool:
        both = [*pool.map(lambda _: load("together", [tmp_path / "plain.cpp"]), range(2))]
    assert both[0] is both[1]
    assert both[0].answer == 7
