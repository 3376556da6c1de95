"""Installed wheels of prebuilt modules, as doctor sees them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.doctor import compilers, python_packages
from fictl.doctor.wheels import wheels
from fictl.jit.store import this_platform
from fictl.jit.store.platform import Platform

HERE = str(this_platform.here())


def test_a_machine_without_wheels_has_nothing_to_say(site_packages: Path, findings) -> None:
    assert findings(wheels) == []


def test_a_good_wheel_says_what_it_is_for(install_wheel, finding) -> None:
    install_wheel(platform=HERE)
    result = finding(wheels, gpus=["NVIDIA A100 8.0"], driver="13.0")
    assert (result.level, result.text) == ("ok", "my_prebuilt 1.0: 1 builds for 8.0")


def test_a_broken_wheel_is_passed_over_with_its_reason(install_wheel, finding) -> None:
    install_wheel().chmod(0o777)
    result = finding(wheels)
    assert result.level == "warning"
    assert "can be written by everyone" in result.text
    assert "pip install --force-reinstall my_prebuilt" in result.fix


def test_a_wheel_that_holds_nothing_readable(install_wheel, finding) -> None:
    next(install_wheel().rglob("manifest.json")).write_text('{"schema": "fictl.build/99"}')
    assert finding(wheels).text == "my_prebuilt 1.0 holds no build that this fictl can read"


OTHERS = {
    "CPU": ("riscv64-linux-glibc2.17", "it is for riscv64-linux, this is"),
    "libc": ("{machine}-linux-glibc2.99", "it needs glibc 2.99"),
    "musl": ("{machine}-linux-musl", "musl"),
    "C++ library": ("{machine}-linux-glibc2.17-glibcxx3.4.99", "it needs GLIBCXX_3.4.99"),
}


@pytest.mark.parametrize(("platform", "reason"), OTHERS.values(), ids=OTHERS)
def test_a_wheel_of_another_platform_names_the_one_that_fits(
    install_wheel, finding, monkeypatch: pytest.MonkeyPatch, platform: str, reason: str
) -> None:
    machine = this_platform.here().machine
    install_wheel(platform=platform.format(machine=machine))
    here = Platform(machine, "linux", (("glibc", "2.36"),))
    monkeypatch.setattr(this_platform, "here", lambda: here)
    result = finding(wheels)
    assert result.text.startswith("my_prebuilt 1.0: 1 of 1 builds do not load here: ")
    assert reason in result.text
    assert f"its name ends with manylinux_2_36_{machine} or a lower number" in result.fix


def test_a_wheel_of_a_newer_cuda_than_the_drivers_names_the_one_that_fits(
    install_wheel, finding
) -> None:
    install_wheel("tiny_prebuilt_cu13")
    result = finding(wheels, driver="12.4")
    assert "is of CUDA 13, and driver 550.54.15 (CUDA 12.4) does not run it" in result.text
    assert result.fix == "pip install tiny-prebuilt-cu12, or a driver 580.65 or newer"


def test_an_older_cuda_and_an_emulated_wheel_are_fine_with_any_driver(
    install_wheel, findings
) -> None:
    install_wheel("old", cudart=12)
    install_wheel("emulated", device="emu", archs=())
    levels = {result.level for result in findings(wheels, driver="12.4")}
    assert levels == {"ok"}


def test_a_wheel_whose_cuda_runtime_is_nowhere_is_one_line_with_what_to_install(
    install_wheel, finding
) -> None:
    install_wheel(cudart=99)
    result = finding(wheels, gpus=["NVIDIA A100 8.0"], driver="99.0")
    assert (result.level, len(result.text.splitlines())) == ("warning", 1)
    assert result.text.startswith("my_prebuilt 1.0 is not used: it needs libcudart.so.99, CUDA's")
    assert result.fix.startswith('pip install "nvidia-cuda-runtime==99.*"')


def test_without_a_driver_nobody_asks_for_the_runtime(install_wheel, finding) -> None:
    install_wheel(cudart=99)
    assert finding(wheels).level == "ok"


def test_a_wheel_for_other_gpus_says_how_to_make_one(install_wheel, finding) -> None:
    install_wheel()
    result = finding(wheels, gpus=["NVIDIA H200 9.0"], driver="13.0")
    assert "is for 8.0, which does not run on NVIDIA H200 (9.0)" in result.text
    assert "fictl aot wheel --arch 9.0 makes it" in result.fix


@pytest.fixture
def stale_or_not(tiny: Path, install_wheel: Callable[..., Path]) -> Path:
    """A wheel with a build of `twice` as it is now; its op folder."""
    import hashlib

    op = tiny / "kernels" / "elementwise" / "twice"
    digest = hashlib.sha256((op / "launcher.cu").read_bytes()).hexdigest()
    facts = {"project": "tiny", "module": "elementwise.twice", "inputs": {"launcher.cu": digest}}
    install_wheel(**facts)
    return op


def test_a_wheel_of_these_sources_is_fine(stale_or_not: Path, finding) -> None:
    assert finding(wheels).level == "ok"


def test_a_wheel_of_other_sources_is_one_line(stale_or_not: Path, finding) -> None:
    launcher = stale_or_not / "launcher.cu"
    launcher.write_text(launcher.read_text() + "// edited\n")
    result = finding(wheels)
    assert (result.level, len(result.text.splitlines())) == ("warning", 1)
    assert "1 of 1 builds are of other sources than those here" in result.text
    assert "elementwise.twice" in result.text


def test_a_wheel_of_an_op_that_is_gone_is_stale(stale_or_not: Path, finding) -> None:
    shutil.copytree(stale_or_not, stale_or_not.with_name("thrice"))
    shutil.rmtree(stale_or_not)
    assert "of other sources" in finding(wheels).text


def test_a_wheel_of_a_project_that_is_elsewhere_is_not_stale(install_wheel, finding) -> None:
    install_wheel(project="elsewhere", inputs={"launcher.cu": "0" * 64})
    assert finding(wheels).level == "ok"


@pytest.mark.parametrize("check", [compilers.nvcc, compilers.host_compiler, python_packages.ninja])
def test_a_missing_compiler_is_no_error_where_a_wheel_serves(
    install_wheel, finding, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, check
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("fictl.toolchain.search._ROOTS", ())
    monkeypatch.setattr("fictl.toolchain.search._wheels", lambda: ())
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    assert finding(check).level == "error"
    install_wheel()
    assert finding(check).level == "warning"
