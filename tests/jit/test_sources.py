"""The include scanner and the hashes of files."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.jit import sources
from fictl.jit.ffi import ffi_paths
from fictl.jit.sources import facts, locate, portable_name, reach
from fictl.paths import data_root
from fictl.toolchain import find_cxx, require_nvcc


@pytest.fixture
def tree(tmp_path: Path) -> Callable[..., Path]:
    """Files by name; an underscore-free way to write a small source tree."""

    def write(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / "tree" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path / "tree"

    return write


def _reached(root: Path, *include_dirs: str, start: str = "a.cpp") -> list[str]:
    places = tuple(root / name for name in include_dirs)
    return list(reach([root / start], root, places).files)


def test_headers_under_every_branch_are_reached(tree):
    root = tree(
        {
            "a.cpp": '#ifdef X\n#include "x.h"\n#elif 0\n  #  include "y.h"\n#endif\n',
            "x.h": "",
            "y.h": '#if 0\n#include "z.h"\n#endif',
            "z.h": "",
        }
    )
    assert _reached(root) == ["a.cpp", "x.h", "y.h", "z.h"]


def test_headers_that_include_each_other_are_reached_once(tree):
    root = tree({"a.cpp": '#include "x.h"', "x.h": '#include "y.h"', "y.h": '#include "x.h"'})
    assert _reached(root) == ["a.cpp", "x.h", "y.h"]


def test_a_quoted_name_is_looked_for_beside_the_file_that_includes_it_first(tree):
    root = tree({"a.cpp": '#include "d/x.h"', "d/x.h": '#include "y.h"', "d/y.h": "", "i/y.h": ""})
    assert _reached(root, "i") == ["a.cpp", "d/x.h", "d/y.h"]


def test_an_angled_name_is_looked_for_on_the_include_path_in_order(tree):
    root = tree({"a.cpp": "#include <y.h>", "y.h": "", "i/y.h": "", "j/y.h": ""})
    assert _reached(root, "i", "j") == ["<y.h>", "a.cpp"]
    assert locate("<y.h>", root, (root / "i", root / "j")) == root / "i" / "y.h"


def test_a_header_that_is_a_link_includes_from_beside_the_link(tree):
    root = tree({"a.cpp": '#include "i/x.h"', "real/x.h": '#include "y.h"', "i/y.h": ""})
    (root / "i" / "x.h").symlink_to(root / "real" / "x.h")
    assert _reached(root) == ["a.cpp", "i/x.h", "i/y.h"]


def test_a_name_with_dots_is_the_same_file(tree):
    root = tree({"a.cpp": '#include "d/../x.h"\n#include "x.h"', "x.h": "", "d/y.h": ""})
    assert _reached(root) == ["a.cpp", "x.h"]


@pytest.mark.parametrize(
    ("include", "library"),
    [
        ("<cutlass/gemm.h>", "cutlass"),
        ('"cute/tensor.hpp"', "cutlass"),
        ("<cub/cub.cuh>", "cccl"),
        ("<cuda/std/span>", "cccl"),
        ("<nv/target>", "cccl"),
    ],
)
def test_a_library_counts_by_version(tree, include, library):
    root = tree({"a.cpp": f"#include {include}\n#include <cuda_fp16.h>\n#include <vector>"})
    reached = reach([root / "a.cpp"], root, ())
    assert reached.libraries == {library}
    assert list(reached.files) == ["a.cpp"]


def test_a_library_of_the_project_s_own_counts_by_bytes(tree):
    root = tree({"a.cpp": "#include <cutlass/gemm.h>", "third/cutlass/gemm.h": ""})
    reached = reach([root / "a.cpp"], root, (root / "third",))
    assert list(reached.files) == ["<cutlass/gemm.h>", "a.cpp"]
    assert not reached.libraries


def test_a_source_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"gone\.cu cannot be read: No such file"):
        facts(tmp_path / "gone.cu")


def test_a_new_mtime_keeps_the_hash(tmp_path):
    path = tmp_path / "a.cpp"
    path.write_text("one")
    before = facts(path)
    os.utime(path, (1, 1))
    assert facts(path).sha256 == before.sha256
    assert facts(path).stamp != before.stamp


def test_new_bytes_of_the_same_size_and_mtime_change_the_hash(tmp_path):
    path = tmp_path / "a.cpp"
    path.write_text("one")
    before, times = facts(path), path.stat()
    path.write_text("two")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert facts(path).sha256 != before.sha256


def test_edits_within_one_tick_of_the_clock_are_told_apart(tmp_path):
    path = tmp_path / "a.cpp"
    seen = set()
    for number in range(10, 60):
        path.write_text(str(number))
        seen.add(facts(path).sha256)
    assert len(seen) == 50


def test_a_file_at_rest_is_read_once(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_TICK_NS", -(1 << 62))
    path = tmp_path / "a.cpp"
    path.write_text("one")
    before = facts(path)
    monkeypatch.setattr(Path, "read_bytes", lambda _: pytest.fail("read again"))
    assert facts(path) == before


def test_names_do_not_depend_on_where_a_checkout_is():
    for root in (Path("/one"), Path("/two/deep")):
        base, include_dirs = root / "kernels/f/op", (root / "kernels/include", root / "kernels")
        names = [
            portable_name(root / "kernels" / name, base, include_dirs)
            for name in ("f/op/launcher.cu", "include/p/x.cuh", "f/shared.h")
        ]
        assert names == ["launcher.cu", "<p/x.cuh>", "<f/shared.h>"]


def test_a_file_outside_every_root_keeps_its_path(tmp_path):
    assert portable_name(tmp_path / "x.h", tmp_path / "op", ()) == str(tmp_path / "x.h")
    (tmp_path / "x.h").touch()
    assert locate(str(tmp_path / "x.h"), tmp_path / "op", ()) == tmp_path / "x.h"


def test_every_name_leads_back_to_its_file(tree):
    text = '#include "x.h"\n#include <p/y.h>'
    root = tree({"f/op/a.cpp": text, "f/op/x.h": "", "include/p/y.h": ""})
    base, include_dirs = root / "f/op", (root / "include", root)
    files = reach([base / "a.cpp"], base, include_dirs).files
    assert len(files) == 3
    assert {name: locate(name, base, include_dirs) for name in files} == files


def test_a_name_whose_file_is_gone_leads_nowhere(tmp_path):
    assert locate("x.h", tmp_path, ()) is None
    assert locate("<x.h>", tmp_path, (tmp_path,)) is None


def _read_by_compiler(argv: list[str], source: Path, within: Path) -> set[Path]:
    made = subprocess.run([*argv, "-M", source], capture_output=True, text=True, check=True).stdout
    words = re.split(r"(?<!\\)\s+", made.partition(":")[2].replace("\\\n", " "))
    read = {Path(os.path.normpath(word.replace("\\ ", " "))) for word in words if word}
    return {path for path in read if path.is_relative_to(within)}


def test_the_scanner_reaches_all_that_the_host_compiler_reads(tree):
    root = tree(
        {
            "a.cpp": '#define ON 1\n#include <p/x.h>\n#include "b c.h"\n',
            "b c.h": '#if __has_include("p/z.h")\n# include "../tree/inc/p/z.h"\n#endif\n',
            "inc/p/x.h": '#if ON\n#include "y.h"\n#else\n#include "w.h"\n#endif\n',
            "inc/p/y.h": "/**/\n",
            "inc/p/w.h": "",
            "inc/p/z.h": "#pragma once\n",
        }
    )
    read = _read_by_compiler([*find_cxx().argv, f"-I{root / 'inc'}"], root / "a.cpp", root)
    scanned = set(reach([root / "a.cpp"], root, (root / "inc",)).files.values())
    assert len(read) == 5
    assert scanned > read


@pytest.mark.needs_nvcc
@pytest.mark.parametrize("unit", ["launcher.cu", "binding.cpp"])
def test_the_scanner_reaches_all_that_compilers_read_of_an_op(unit):
    kernels = data_root("kernels")
    source = kernels / "elementwise" / "scale" / unit
    include_dirs = (kernels / "include", kernels)
    system = (ffi_paths().tvm_ffi, ffi_paths().dlpack, *require_nvcc().include_dirs)
    compiler = [str(require_nvcc().path)] if unit.endswith(".cu") else list(find_cxx().argv)
    argv = [*compiler, "-std=c++17", *(f"-I{path}" for path in (*include_dirs, *system))]
    read = _read_by_compiler(argv, source, kernels)
    scanned = set(reach([source], source.parent, include_dirs).files.values())
    assert len(read) > 1
    assert scanned >= read
