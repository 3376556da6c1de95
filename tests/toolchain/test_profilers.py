"""Where ncu and nsys are found, and which version they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.toolchain import profilers
from fictl.toolchain.profilers import find_profiler, version_of


@pytest.fixture(autouse=True)
def _nothing_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(profilers, "_OPT", tmp_path)
    monkeypatch.setattr(profilers, "find_tool", lambda name: None)


def install(path: Path) -> Path:
    path.parent.mkdir(parents=True)
    path.touch()
    return path


@pytest.mark.parametrize("name", ["ncu", "nsys", "cuobjdump"])
def test_what_is_nowhere_is_none(name: str) -> None:
    assert find_profiler(name) is None


def test_path_and_toolkit_come_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(tmp_path / "nsight-compute/2025.3.1/ncu")
    monkeypatch.setattr(profilers, "find_tool", lambda name: Path("/bin") / name)
    assert find_profiler("ncu") == Path("/bin/ncu")


def test_of_several_the_newest_is_taken(tmp_path: Path) -> None:
    install(tmp_path / "nsight-compute/2024.1.0/ncu")
    newest = install(tmp_path / "nsight-compute/2025.3.1/ncu")
    assert find_profiler("ncu") == newest


def test_the_nsys_inside_nsight_compute_is_the_last_resort(tmp_path: Path) -> None:
    inside = install(tmp_path / "nsight-compute/2025.3.1/host/target-linux-x64/nsys")
    assert find_profiler("nsys") == inside
    proper = install(tmp_path / "nsight-systems/2024.1.0/bin/nsys")
    assert find_profiler("nsys") == proper


@pytest.mark.parametrize(
    ("said", "version"),
    [
        (
            "NVIDIA Nsight Compute\\nVersion 2025.3.1.0 (build 36398880) (public-release)",
            "2025.3.1",
        ),
        ("NVIDIA Nsight Systems version 2025.3.1.0", "2025.3.1"),
        ("NVIDIA Nsight Systems version 2024.6", "2024.6"),
        ("no libdw", ""),
    ],
)
def test_the_version_is_read_from_what_it_says(script, said: str, version: str) -> None:
    assert version_of(script("tool", f"printf '{said}\\n'")) == version
