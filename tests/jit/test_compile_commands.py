"""compile_commands.json: which files are in it, with which flags, and what a real clangd says."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fictl.arch import Arch
from fictl.errors import SetupError, UsageError
from fictl.jit import JitSpec, Template, gen_jit_spec
from fictl.jit.compile_commands import FILE, Command, clang_flags, database
from fictl.toolchain import require_nvcc

H100 = (Arch(8, 0), Arch(9, 0, "a"))


@pytest.fixture
def spec(tmp_path: Path) -> JitSpec:
    """A unit of each compiler; `both.h` and `dim.cuh` are seen by both, `device.h` by nvcc only."""
    files = {
        "op/a.cu": '#include <both.h>\n#include <device.h>\n#include "dim.cuh"\n',
        "op/b.cpp": '#include <both.h>\n#include "dim.cuh"\n',
        "op/dim.cuh": "#pragma once\nstruct Dim { int x; };\n",
        "inc/both.h": "#pragma once\nint both();\n",
        "inc/device.h": "#pragma once\n__global__ void k();\ninline void f() { k<<<1, 1>>>(); }\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return gen_jit_spec(
        "m", [tmp_path / "op/a.cu", tmp_path / "op/b.cpp"], extra_include_paths=[tmp_path / "inc"]
    )


def _by_name(*specs: JitSpec, archs: tuple[Arch, ...] = H100) -> dict[str, Command]:
    return {command.file.name: command for command in database(specs, archs).commands}


@pytest.mark.parametrize(
    ("nvcc", "clang"),
    [
        ("-std=c++17 -O3 -DX=1 -UY -I/i", "-std=c++17 -O3 -DX=1 -UY -I/i"),
        ("--std c++20", "-std=c++20"),
        ("-isystem /s -isystem=/t", "-isystem /s -isystem /t"),
        ("-D X --define-macro=Y=2 --include-path /i", "-D X -D Y=2 -I /i"),
        ("--pre-include a.h", "-include a.h"),
        ("-Xcompiler=-fPIC,-DX,-std=c++17", "-DX -std=c++17"),
        ("-Xcompiler -DX --compiler-options -fopenmp", "-DX"),
        ("--expt-relaxed-constexpr -lineinfo -G -use_fast_math --threads=4", ""),
        ("-gencode=arch=compute_80,code=sm_80 -gencode arch=compute_80,code=sm_80", ""),
        ("-ccbin /usr/bin/g++ -ccbin=g++ -Xfatbin=-compress-all -Xptxas -v", ""),
        ("-Ofast-compile=max", ""),
        ("-Xcompiler", ""),
    ],
)
def test_of_nvccs_flags_those_are_kept_that_decide_what_the_code_says(nvcc, clang) -> None:
    assert clang_flags(nvcc.split()) == clang.split()


@pytest.mark.needs_nvcc
def test_every_source_and_every_header_it_reaches_has_one_entry(spec: JitSpec) -> None:
    commands = database([spec, spec], H100).commands
    assert [command.file.name for command in commands] == [
        "both.h",
        "device.h",
        "a.cu",
        "b.cpp",
        "dim.cuh",
    ]
    assert [command.header for command in commands] == [True, True, False, False, True]
    assert all(command.file.is_absolute() for command in commands)


@pytest.mark.needs_nvcc
def test_a_header_is_read_as_the_unit_that_includes_it(spec: JitSpec) -> None:
    commands = _by_name(spec)
    languages = {
        name: command.argv[command.argv.index("-x") + 1]
        for name, command in commands.items()
        if "-x" in command.argv
    }
    assert languages == {
        "a.cu": "cuda",
        "device.h": "cuda",
        "dim.cuh": "cuda",
        "both.h": "c++-header",
    }


@pytest.mark.needs_nvcc
def test_the_highest_target_is_what_an_editor_sees(spec: JitSpec) -> None:
    assert "--cuda-gpu-arch=sm_90a" in _by_name(spec)["a.cu"].argv


@pytest.mark.needs_nvcc
def test_a_family_is_spelt_as_clang_knows_it(spec: JitSpec) -> None:
    argv = _by_name(spec, archs=(Arch(10, 0, "f"),))["a.cu"].argv
    assert "--cuda-gpu-arch=sm_100a" in argv


@pytest.mark.needs_nvcc
def test_of_two_specs_with_one_source_the_one_of_the_newer_target_counts(spec: JitSpec) -> None:
    old = replace(spec, exact_archs=(Arch(8, 0),), extra_cuda_cflags=("-DOLD",))
    new = replace(spec, exact_archs=(Arch(9, 0, "a"),), extra_cuda_cflags=("-DNEW",))
    argv = _by_name(old, new, archs=())["device.h"].argv
    assert "-DNEW" in argv
    assert "-DOLD" not in argv


@pytest.mark.needs_nvcc
def test_the_toolkit_is_named_where_clang_can_read_it(spec: JitSpec) -> None:
    nvcc = require_nvcc()
    argv = _by_name(spec)["a.cu"].argv
    assert f"--cuda-path={nvcc.home}" in argv
    assert f"-D__CUDACC_VER_MAJOR__={nvcc.version[0]}" in argv


def test_a_toolkit_spread_over_the_system_is_left_to_clang(spec: JitSpec, use_nvcc) -> None:
    use_nvcc("12.8")  # It has no nvvm/libdevice.
    argv = _by_name(spec)["a.cu"].argv
    assert not [word for word in argv if word.startswith("--cuda-path")]


@pytest.mark.needs_nvcc
def test_launchers_are_left_out(spec: JitSpec, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_NVCC_LAUNCHER", "ccache --x")
    monkeypatch.setenv("FICTL_CXX_LAUNCHER", "distcc")
    commands = _by_name(spec)
    assert commands["a.cu"].argv[0] == "clang++"
    assert Path(commands["b.cpp"].argv[0]).name == "g++"
    assert not {"ccache", "distcc", "--x"} & {*commands["a.cu"].argv, *commands["b.cpp"].argv}


@pytest.mark.needs_nvcc
def test_a_spec_that_has_no_target_leaves_the_others_alone(spec: JitSpec, use_nvcc) -> None:
    use_nvcc("12.0")
    found = database([replace(spec, exact_archs=(Arch(10, 0),)), spec])
    (error,) = found.errors
    assert "cannot be built for 10.0" in error.message
    assert len(found.commands) == 5


def test_without_a_toolkit_there_is_nothing_to_point_at(spec: JitSpec, monkeypatch) -> None:
    monkeypatch.setenv("FICTL_NVCC", "/nowhere/nvcc")
    with pytest.raises(SetupError, match="/nowhere/nvcc"):
        database([spec])


@pytest.fixture
def templated(tmp_path: Path) -> Callable[..., JitSpec]:
    def make(
        launcher: str = "a.cu", text: str = "#define DIM {{ dim }}\n", **parameters
    ) -> JitSpec:
        folder = tmp_path / "op"
        folder.mkdir(exist_ok=True)
        (folder / "config.jinja").write_text(text, encoding="utf-8")
        (folder / launcher).write_text("#include <config.inc>\nint dim = DIM;\n", encoding="utf-8")
        template = Template(folder / "config.jinja", "config.inc", parameters)
        return replace(gen_jit_spec("m", [folder / launcher]), template=template)

    return make


@pytest.mark.needs_nvcc
def test_a_rendered_config_is_found_from_the_entrys_folder(templated, tmp_path: Path) -> None:
    found = database([templated(dim=64), templated(dim=128)])
    (command,) = found.commands
    found.write(tmp_path / FILE)
    assert "-Isrc" in command.argv
    assert (command.directory / "src" / "config.inc").read_text() == "#define DIM 64\n"


@pytest.mark.needs_nvcc
def test_each_launcher_of_a_module_has_a_config_of_its_own(templated, tmp_path: Path) -> None:
    found = database([templated("a.cu", dim=1), templated("b.cu", dim=2)])
    found.write(tmp_path / FILE)
    texts = [(each.directory / "src" / "config.inc").read_text() for each in found.commands]
    assert texts == ["#define DIM 1\n", "#define DIM 2\n"]


@pytest.mark.needs_nvcc
def test_a_config_that_cannot_be_rendered_is_told(templated, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'dim' is undefined"):
        database([templated()]).write(tmp_path / FILE)
    assert not (tmp_path / FILE).exists()


@pytest.mark.needs_nvcc
def test_what_did_not_change_is_not_written_again(spec: JitSpec, tmp_path: Path) -> None:
    path = tmp_path / FILE
    assert database([spec]).write(path) is True
    before = path.stat().st_mtime_ns
    assert database([spec]).write(path) is False
    assert path.stat().st_mtime_ns == before
    assert database([spec], (Arch(7, 5),)).write(path) is True


@pytest.mark.needs_nvcc
def test_the_file_is_what_the_format_asks_for(spec: JitSpec, tmp_path: Path) -> None:
    database([spec]).write(tmp_path / FILE)
    for entry in json.loads((tmp_path / FILE).read_text()):
        assert set(entry) == {"directory", "file", "arguments"}
        assert Path(entry["directory"]).is_dir()
        assert entry["arguments"][-2:] == ["-c", entry["file"]]


@pytest.mark.needs_nvcc
def test_a_place_that_cannot_be_written_is_named(spec: JitSpec, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SetupError, match=r"cannot write .*file/x"):
        database([spec]).write(tmp_path / "file" / "x")


@pytest.mark.needs_nvcc
def test_clangd_finds_no_error(spec: JitSpec, templated, tmp_path: Path) -> None:
    clangd = shutil.which("clangd")
    if clangd is None:
        pytest.skip("needs a clangd on PATH")
    found = database([spec, templated("config.cu", dim=64)], H100)
    found.write(tmp_path / FILE)
    for command in found.commands:
        argv = [clangd, f"--check={command.file}", f"--compile-commands-dir={tmp_path}"]
        done = subprocess.run(
            [*argv, "--check-locations=0", "--log=error"], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
