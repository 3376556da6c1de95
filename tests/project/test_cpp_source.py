from __future__ import annotations

from pathlib import Path

from fictl.project.cpp_source import CppSource, Include, reach


def source(folder: Path, text: str) -> CppSource:
    path = folder / "x.cu"
    path.write_text(text, encoding="utf-8")
    return CppSource(path)


def test_includes_are_read_with_their_lines(tmp_path: Path) -> None:
    found = source(tmp_path, '#include <a.h>\n\n  #  include "b/c.h"  // why\n').includes
    assert found == (Include(1, "<a.h>"), Include(3, '"b/c.h"'))
    assert [include.name for include in found] == ["a.h", "b/c.h"]


def test_a_macro_has_no_name(tmp_path: Path) -> None:
    assert source(tmp_path, "#include HEADER\n").includes[0].name == ""


def test_comments_do_not_count(tmp_path: Path) -> None:
    text = '// #include <a.h>\n/*\n#include <b.h>\nf<<<1, 2>>>();\n*/\nauto url = "http://x";\n#include <c.h>\n'
    found = source(tmp_path, text)
    assert found.includes == (Include(7, "<c.h>"),)
    assert found.launches == ()


def test_launches_are_found_over_lines(tmp_path: Path) -> None:
    assert source(tmp_path, "\nkernel<float><<<grid,\n  block>>>(x);\n").launches == (2,)


def test_exports_are_found_whatever_the_space(tmp_path: Path) -> None:
    text = "TVM_FFI_DLL_EXPORT_TYPED_FUNC(a, f);\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(\n  b, g);\n"
    assert source(tmp_path, text).exports == {"a": 1, "b": 2}


def test_reach_follows_what_lies_in_the_projects_once(tmp_path: Path) -> None:
    library = tmp_path / "include"
    library.mkdir()
    (library / "a.cuh").write_text("#include <b.cuh>\n#include <cub/cub.cuh>\n")
    (library / "b.cuh").write_text("#if 0\n#include <a.cuh>\n#endif\n")
    start = source(tmp_path, "#include <a.cuh>\n")
    found = [each.path.name for each in reach([start.path], (library,))]
    assert found == ["x.cu", "a.cuh", "b.cuh"]


def test_what_a_named_namespace_declares_is_read(tmp_path: Path) -> None:
    text = (
        "namespace a::b {\nvoid f(const Launch& launch, View out,\n  int n = 3);\n"
        "int64_t g(View);\n}\nnamespace {\nvoid h(View x);\n}\n"
    )
    declared = dict(source(tmp_path, text).declared)
    assert {name: found.line for name, found in declared.items()} == {"f": 2, "g": 4}
    assert declared["g"].result == "int64_t"
    assert declared["g"].parameters == (("View", ""),)


def test_what_is_defined_has_its_types_without_ornament(tmp_path: Path) -> None:
    text = "void f(const fictl::Launch& launch, View x) {\n}\nvoid f(int);\nvoid ff(int x) {}\n"
    (found,) = source(tmp_path, text).defined("f")
    assert found.parameters == (("Launch", "launch"), ("View", "x"))
