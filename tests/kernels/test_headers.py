"""The header library is pure, its headers stand alone, and its Elements are fictl's dtypes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fictl.dtype import DTYPES, DType

from .conftest import INCLUDE, KERNELS, Toolkit, run
from .header_chains import chains, closures

HEADERS = sorted(str(path.relative_to(INCLUDE)) for path in INCLUDE.rglob("*.cuh"))
BINDING = sorted(str(path.relative_to(KERNELS)) for path in (KERNELS / "binding").glob("*.h"))
_INCLUDED = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
_FOREIGN = ("torch/", "ATen/", "c10/", "tvm/", "dlpack/", "binding/")
# What compiles for some generation between the oldest and the newest alone.
_FOR_ONE = re.compile(
    r"__CUDA_ARCH__ *(?:==|!=|<)|(?:==|!=|>=?) *__CUDA_ARCH__|__CUDA_ARCH_FEAT_"
    r"|# *elif.*__CUDA_ARCH__"
)
CLOSURES = closures({header: INCLUDE / header for header in HEADERS})
CHAINS = chains(CLOSURES)
_HEAVY = ("cub/", "cooperative_groups", "cuda/", "thrust/", "cute/", "cutlass/")


def _includes(path: Path) -> list[str]:
    return _INCLUDED.findall(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_of_the_library_includes_no_framework(header: str) -> None:
    assert [name for name in _includes(INCLUDE / header) if name.startswith(_FOREIGN)] == []


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_of_the_library_includes_nothing_slow_to_compile(header: str) -> None:
    assert [name for name in _includes(INCLUDE / header) if name.startswith(_HEAVY)] == []


@pytest.mark.parametrize("header", HEADERS)
def test_code_for_a_generation_is_for_the_later_ones_too(header: str) -> None:
    """So that a build for the oldest and the newest has seen it all: see test_shipped.py.

    But wgmma and setmaxnreg exist on sm_90a alone, which one header tells.
    """
    if header == "fictl/device/hopper/guard.cuh":
        return
    assert _FOR_ONE.findall((INCLUDE / header).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: chain[-1])
def test_a_header_of_the_library_compiles_alone(
    chain: list[str], toolkit: Toolkit, tmp_path: Path
) -> None:
    """Behind headers, at most, that it includes itself: what it forgets to include is missing."""
    unit = tmp_path / "unit.cu"
    unit.write_text("".join(f"#include <{header}>\n" for header in chain))
    # To PTX: whoever reads it for the GPU reads the host's part, too, and half the time is saved.
    toolkit.compile(f"-I{INCLUDE}", "-ptx", unit, "-o", tmp_path / "unit.ptx")


def test_every_header_is_in_one_chain_behind_those_that_it_includes() -> None:
    assert sorted(header for chain in CHAINS for header in chain) == HEADERS
    for chain in CHAINS:
        for place, header in enumerate(chain):
            assert CLOSURES[header].issuperset(chain[:place])


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("#pragma once", "#pragma once\n#include <1.h>", [["1.h", "2.h", "3.h"]]),
        # What is included under a condition is not there without it.
        (
            "#pragma once",
            "#pragma once\n#if defined(A)\n#include <1.h>\n#endif",
            [["1.h"], ["2.h", "3.h"]],
        ),
        # Macros that it leaves would be there for those behind it.
        ("", "#pragma once\n#include <1.h>", [["1.h"], ["2.h", "3.h"]]),
    ],
    ids=["always", "under a condition", "not once"],
)
def test_a_chain_shows_what_single_headers_would(
    first: str, second: str, found: list[list[str]], tmp_path: Path
) -> None:
    texts = {"1.h": first, "2.h": second, "3.h": "#pragma once\n#include <2.h>"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert chains(closures({name: tmp_path / name for name in texts})) == found


@pytest.mark.parametrize("header", [name for name in BINDING if name != "binding/ffi.h"])
def test_only_ffi_h_includes_tvm(header: str) -> None:
    assert [name for name in _includes(KERNELS / header) if name.startswith("tvm/")] == []


@pytest.mark.parametrize("header", BINDING)
def test_a_binding_header_compiles_alone(
    header: str, toolkit: Toolkit, cxx: str, ffi_includes: list[str], tmp_path: Path
) -> None:
    unit = tmp_path / "unit.cpp"
    unit.write_text(f"#include <{header}>\n")
    includes = [f"-I{KERNELS}", f"-I{toolkit.include}", *ffi_includes]
    if any(name.startswith("fictl/") for name in _includes(KERNELS / header)):
        # What names kernels' types is for launchers alone, which are CUDA.
        unit = unit.rename(unit.with_suffix(".cu"))
        toolkit.compile(f"-I{INCLUDE}", *includes, "-ptx", unit, "-o", tmp_path / "unit.ptx")
        return
    run(cxx, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *includes, unit)


@pytest.fixture(scope="module")
def elements(
    toolkit: Toolkit, cxx: str, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[str]]:
    folder = tmp_path_factory.mktemp("elements")
    shown = "".join(f"show<{dtype.cpp}>();\n" for dtype in DTYPES.values())
    (folder / "elements.inc").write_text(shown)
    source = Path(__file__).with_name("print_elements.cpp")
    includes = [f"-I{INCLUDE}", f"-I{toolkit.include}", f"-I{folder}"]
    run(cxx, "-std=c++17", *includes, source, "-o", folder / "print_elements")
    lines = run(folder / "print_elements").splitlines()
    return {line.split()[0]: line.split()[1:] for line in lines}


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=lambda dtype: dtype.name)
def test_an_element_says_what_the_dtype_says(dtype: DType, elements: dict[str, list[str]]) -> None:
    code, bits, lanes, size, _ = elements[dtype.name]
    assert (int(code), int(bits), int(lanes)) == (dtype.code, dtype.bits, dtype.lanes)
    assert int(size) == dtype.bytes


@pytest.mark.parametrize("name", DTYPES)
def test_one_survives_the_way_from_float_and_back(
    name: str, elements: dict[str, list[str]]
) -> None:
    assert elements[name][-1] == "1"
