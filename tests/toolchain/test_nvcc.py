from __future__ import annotations

from pathlib import Path

import pytest

from fictl import toolchain
from fictl.errors import SetupError
from fictl.toolchain import Nvcc
from fictl.toolchain.nvcc import inspect


def calls(nvcc: Path) -> int:
    return len((nvcc.parent.parent / "calls").read_text().splitlines())


def wrapper(folder: Path, target: Path) -> Path:
    folder.mkdir()
    script = folder / "nvcc"
    script.write_text(f'#!/bin/sh\nexec {target} "$@"\n')
    script.chmod(0o755)
    return script


@pytest.mark.parametrize(
    ("release", "build"),
    [
        ("12.6", "cuda_12.6.r12.6/compiler.35059454_0"),
        ("12.8", "cuda_12.8.r12.8/compiler.35583870_0"),
        ("12.9", "cuda_12.9.r12.9/compiler.36037853_0"),
        ("13.0", "cuda_13.0.r13.0/compiler.36424714_0"),
    ],
)
def test_version_and_build_are_read(stand_in_nvcc, release, build):
    found = inspect(stand_in_nvcc(release))
    assert found.identity == f"{release} {build}"
    assert found.cudart_major == int(release.partition(".")[0])


def test_a_release_below_the_floor_is_refused_also_when_it_was_seen_before(stand_in_nvcc):
    path = stand_in_nvcc("11.8")
    for _ in range(2):
        with pytest.raises(SetupError, match=r"is nvcc 11\.8: CUDA 12\.0 or newer is needed"):
            inspect(path)


def test_the_layout_is_where_the_profile_says(stand_in_nvcc):
    path = stand_in_nvcc("12.8")
    home = path.parent.parent
    found = inspect(path)
    build = "cuda_12.8.r12.8/compiler.35583870_0"
    assert found == Nvcc(path, home, (12, 8), build, (home / "include",), found.library_dirs)
    assert found.cudart == home / "lib64" / "libcudart.so.12"


def test_behind_a_wrapper_script_the_real_toolkit_is_found(stand_in_nvcc, tmp_path):
    real = stand_in_nvcc("12.8")
    script = wrapper(tmp_path / "bin", real)
    found = inspect(script)
    assert found.path == script
    assert found.home == real.parent.parent
    assert found.cudart == found.home / "lib64" / "libcudart.so.12"


def test_a_lone_symlink_is_followed_because_nvcc_looks_beside_its_name(stand_in_nvcc, tmp_path):
    real = stand_in_nvcc("12.8")
    link = tmp_path / "nvcc"
    link.symlink_to(real)
    assert inspect(link).path == real


def test_two_installations_of_one_release_have_one_identity(stand_in_nvcc, tmp_path):
    first, second = (stand_in_nvcc("12.8", tmp_path / name) for name in ("a", "b"))
    assert inspect(first).identity == inspect(second).identity


def test_a_part_that_vanishes_later_is_noticed(stand_in_nvcc):
    path = stand_in_nvcc("13.0")
    inspect(path)
    (path.parent.parent / "nvvm" / "bin" / "cicc").unlink()
    toolchain.forget()
    with pytest.raises(SetupError, match="no cicc"):
        inspect(path)


def test_a_missing_nvcc_is_said_to_be_missing(tmp_path):
    with pytest.raises(SetupError, match="is not there"):
        inspect(tmp_path / "nvcc")


def test_a_lost_executable_bit_is_named_with_the_way_out(stand_in_nvcc):
    path = stand_in_nvcc("13.0")
    path.chmod(0o644)
    with pytest.raises(SetupError, match=r"is not executable \(chmod \+x .*nvvm/bin"):
        inspect(path)


def test_a_program_that_is_no_nvcc_is_quoted(tmp_path):
    path = tmp_path / "nvcc"
    path.write_text("#!/bin/sh\necho hello\n")
    path.chmod(0o755)
    with pytest.raises(SetupError, match="is not an nvcc: --version says 'hello'"):
        inspect(path)


def test_a_warm_start_runs_nothing(stand_in_nvcc):
    path = stand_in_nvcc("13.0")
    cold = inspect(path)
    before = calls(path)
    toolchain.forget()
    assert inspect(path) == cold
    assert calls(path) == before


def test_a_replaced_nvcc_is_asked_again(stand_in_nvcc, tmp_path):
    home = tmp_path / "cuda"
    inspect(stand_in_nvcc("12.8", home))
    assert inspect(stand_in_nvcc("12.9", home)).release == "12.9"


def test_a_wrapper_whose_toolkit_link_is_switched_is_asked_again(stand_in_nvcc, tmp_path):
    old, new = stand_in_nvcc("12.8").parent.parent, stand_in_nvcc("13.0").parent.parent
    cuda = tmp_path / "cuda"
    cuda.symlink_to(old)
    script = wrapper(tmp_path / "bin", cuda / "bin" / "nvcc")
    assert inspect(script).release == "12.8"
    cuda.unlink()
    cuda.symlink_to(new)
    assert inspect(script).release == "13.0"
