"""Whether a folder of prebuilt modules would serve."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.arch import parse_archs
from fictl.errors import UsageError
from fictl.jit.progress import LogObserver
from fictl.jit.store.entry import MANIFEST, MODULE, Entry, FileStamp
from fictl.jit.store.stores import STORE_FILE
from fictl.sealed import seal, unseal
from fictl.ship import verify as module
from fictl.ship.aot import ship
from fictl.ship.verify import verify
from fictl.toolchain import can_target, find_tool, require_nvcc

pytestmark = pytest.mark.needs_nvcc


@pytest.fixture
def build(tiny: Path, tmp_path: Path) -> Path:
    """The one build of a folder."""
    (built,) = ship(tmp_path / "out", [], (), LogObserver()).built
    return Path(built.path)


@pytest.fixture
def cuobjdump(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A stand-in that says what it is told to: text, or headers, as 'elf sm_80'."""

    def says(*headers: str, text: str = "") -> None:
        parts = [header.split() for header in headers]
        lines = [f"Fatbin {kind} code:\n=====\narch = {arch}\nhost = linux" for kind, arch in parts]
        (tmp_path / "said").write_text("\n\n".join(lines) + text)
        tool = tmp_path / "cuobjdump"
        tool.write_text(f"#!/bin/sh\ncat '{tmp_path / 'said'}'\n")
        tool.chmod(0o755)
        monkeypatch.setattr(module, "find_tool", lambda name: tool)

    return says


def _problems(build: Path) -> tuple[str, ...]:
    (checked,) = verify(build.parents[4])
    return checked.problems


def _rewrite(build: Path, **facts: object) -> None:
    data = unseal((build / MANIFEST).read_text())
    (build / MANIFEST).write_text(seal({**data, **facts}))


@pytest.mark.parametrize(
    ("platform", "problem"),
    [
        ("sparc64-linux-glibc2.2", "it is for sparc64-linux, this is"),
        ("x86_64-linux-glibc2.999", "it needs glibc 2.999, here is"),
        ("x86_64-linux-glibc2.2", "its manifest is for x86_64-linux-glibc2.2, its file for "),
    ],
)
def test_another_platform_is_named(build: Path, cuobjdump, platform: str, problem: str) -> None:
    cuobjdump("elf sm_80")
    _rewrite(build, platform=platform)
    assert any(problem in one for one in _problems(build))
    assert not any("does not load" in one for one in _problems(build))


def test_a_cuda_runtime_that_is_nowhere_is_a_problem_with_what_to_install(
    build: Path, cuobjdump, monkeypatch
) -> None:
    cuobjdump("elf sm_80")
    monkeypatch.setattr("fictl.jit.cuda_runtime.is_here", lambda major: False)
    (problem,) = _problems(build)
    assert problem.startswith("libcudart.so.")
    assert "nor in a package, a toolkit or a folder of the system: pip install " in problem


def test_a_build_of_a_newer_fictl_is_no_problem(build: Path, cuobjdump) -> None:
    cuobjdump("elf sm_80")
    _rewrite(build, schema="fictl.build/2")
    (checked,) = verify(build.parents[4])
    assert checked.problems == ()
    assert "a newer fictl made it" in checked.notes[0]


def test_a_folder_as_it_was_made_has_no_problem(build: Path, cuobjdump) -> None:
    cuobjdump("elf sm_80")
    (checked,) = verify(build.parents[4])
    assert (checked.module, checked.archs) == ("elementwise.twice", ("8.0",))
    assert (checked.problems, checked.notes) == ((), ())


def test_without_cuobjdump_it_says_what_it_could_not_see(build: Path, monkeypatch) -> None:
    monkeypatch.setattr(module, "find_tool", lambda name: None)
    (checked,) = verify(build.parents[4])
    assert checked.problems == ()
    assert "there is no cuobjdump here" in checked.notes[0]


def test_code_that_is_claimed_and_not_there_is_a_problem(build: Path, cuobjdump) -> None:
    cuobjdump("elf sm_75", "elf sm_90a")
    (problem,) = _problems(build)
    assert problem == "it holds no code for 8.0, which its manifest claims, but for 7.5, 9.0a"


@pytest.mark.parametrize(
    ("claimed", "there", "absent"),
    [
        ("10.0f", "elf sm_100", "10.0f"),
        ("10.0", "elf sm_100f", "10.0"),
        ("10.3a", "elf sm_103f", "10.3a"),
        ("8.0+PTX", "elf sm_80", "PTX of 8.0"),
        ("8.0+PTX", "ptx sm_80", "8.0"),
        ("12.0f+PTX", "elf sm_120f", "PTX of 12.0f"),
    ],
)
def test_a_target_is_there_with_its_suffix_and_its_ptx_or_not(
    build: Path, cuobjdump, claimed: str, there: str, absent: str
) -> None:
    _rewrite(build, archs=[claimed])
    cuobjdump(there)
    (problem,) = _problems(build)
    assert problem.startswith(f"it holds no code for {absent}, which its manifest claims")


def test_code_that_is_there_and_not_claimed_is_a_note(build: Path, cuobjdump) -> None:
    cuobjdump("elf sm_80", "elf sm_90a", "ptx sm_80")
    (checked,) = verify(build.parents[4])
    assert checked.problems == ()
    assert checked.notes == (
        "elementwise.twice holds code for 9.0a, PTX of 8.0, too, which its manifest does not claim",
    )


def test_a_module_without_a_kernel_holds_no_code_and_is_fine(build: Path, cuobjdump) -> None:
    cuobjdump(text="cuobjdump info    : File 'module.so' does not contain device code")
    (checked,) = verify(build.parents[4])
    assert (checked.problems, checked.notes) == ((), ())


def test_what_cuobjdump_cannot_read_is_told(build: Path, cuobjdump) -> None:
    cuobjdump(text="cuobjdump fatal   : Invalid fatbin header")
    (checked,) = verify(build.parents[4])
    assert checked.problems == ()
    assert "cuobjdump says 'cuobjdump fatal   : Invalid fatbin header'" in checked.notes[0]


@pytest.mark.skipif(find_tool("cuobjdump") is None, reason="needs cuobjdump")
def test_every_kind_of_target_is_found_in_what_nvcc_makes(tiny: Path, tmp_path: Path) -> None:
    """A family's cubin is called sm_100 in cuobjdump's lists, and sm_100f in its headers."""
    launcher = tiny / "kernels" / "elementwise" / "twice" / "launcher.cu"
    launcher.write_text(launcher.read_text() + "__global__ void work(int* at) { *at = 1; }\n")
    listed = "8.0+PTX 9.0a 10.0a 10.0f 10.3a 11.0f 12.0f+PTX 12.1 12.1a"
    nvcc = require_nvcc()
    archs = tuple(arch for arch in parse_archs(listed) if can_target(nvcc, arch))
    (built,) = ship(tmp_path / "out", [], archs, LogObserver()).built
    (checked,) = verify(tmp_path / "out")
    assert built.archs == tuple(map(str, archs))
    assert (checked.problems, checked.notes) == ((), ())


def test_other_bytes_are_a_problem(build: Path) -> None:
    (build / MODULE).write_bytes(b"")
    (problem,) = _problems(build)
    assert "has 0 bytes" in problem


def test_another_abi_is_a_problem(build: Path) -> None:
    _rewrite(build, ffi_abi="9.9")
    (problem,) = _problems(build)
    assert problem.startswith("it speaks the ABI of tvm-ffi 9.9, here is ")


def test_a_library_that_does_not_load_is_a_problem_with_its_reason(build: Path) -> None:
    (build / MODULE).write_bytes(b"no library")
    stamp = FileStamp.of(build / MODULE)
    _rewrite(build, files={MODULE: stamp.__dict__}, platform="")
    Entry.read(build).verify()
    (problem,) = _problems(build)
    assert problem.startswith("it does not load: ")


def test_a_folder_without_builds_has_nothing_to_say(tmp_path: Path) -> None:
    (tmp_path / STORE_FILE).write_text("{}")
    assert verify(tmp_path) == []


def test_what_is_no_such_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"it has no {STORE_FILE}"):
        verify(tmp_path / "nowhere")
