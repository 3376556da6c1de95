"""fictl demo: the environment, then each command as it is typed; the first that fails ends it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fictl import process

VERBS = ["init", "new-op", "build", "test", "sanitize"]


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, list[str]]]:
    """The commands that would run, and where; none of them fails."""
    commands: list[tuple[Path, list[str]]] = []
    real = process.stream

    class Ended:
        code = 0

    def stream(argv, on_line, **options):
        if argv[0] != sys.executable:
            return real(argv, on_line, **options)
        folder, (verb, *words) = options["cwd"], argv[3:]
        if verb == "init":
            (folder / words[0]).mkdir()
        assert folder.is_dir()
        commands.append((folder, [verb, *words]))
        on_line(f"output of {verb}")
        return Ended

    monkeypatch.setattr("fictl.process.stream", stream)
    return commands


def test_each_command_is_shown_before_its_output(fictl, ran, use_nvcc) -> None:
    use_nvcc("12.8")
    answer = fictl("demo")
    assert answer.code == 0
    assert [words[0] for _, words in ran] == VERBS
    lines = answer.err.splitlines()
    for verb in VERBS:
        shown = next(line for line in lines if line.startswith(f"$ fictl {verb} "))
        assert lines[lines.index(shown) + 1] == f"output of {verb}"
    assert "$ cd my_kernels" in lines


def test_all_but_the_first_run_in_the_new_project(fictl, ran) -> None:
    fictl("demo")
    (parent, _), *others = ran
    assert {folder for folder, _ in others} == {parent / "my_kernels"}


def test_the_environment_comes_first(fictl, ran, use_nvcc) -> None:
    use_nvcc("12.8")
    compilers, gpu = fictl("demo").err.splitlines()[:2]
    assert compilers.startswith("compilers: 12.8 ")
    assert gpu == "GPU: none; tests run on the emulated device"


def test_a_gpu_is_benched_not_emulated(fictl, ran, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fictl.toolchain.visible_gpus", lambda: ("NVIDIA H200",))
    fictl("demo")
    assert [words[0] for _, words in ran][-1] == "bench"


def test_without_a_compiler_the_emulated_device_is_built_for(
    fictl, ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fictl.toolchain.current_toolchain", lambda: None)
    fictl("demo")
    (build,) = [words for _, words in ran if words[0] == "build"]
    assert build[1:3] == ["--device", "emu"]


def test_nothing_is_left_behind(fictl, ran) -> None:
    assert "the project is in" not in fictl("demo").err
    assert not ran[0][0].exists()


def test_the_folder_stays_on_request(fictl, ran) -> None:
    answer = fictl("demo", "--keep")
    kept = ran[0][0] / "my_kernels"
    assert kept.is_dir()
    assert answer.err.splitlines()[-1] == f"the project is in {kept}"


def test_the_folder_can_be_named(fictl, ran, tmp_path: Path) -> None:
    answer = fictl("demo", "--keep", str(tmp_path / "a" / "mine"))
    assert (tmp_path / "a" / "mine").is_dir()
    assert answer.err.splitlines()[-1] == f"the project is in {tmp_path / 'a' / 'mine'}"


def test_a_folder_with_something_in_it_is_refused(fictl, ran, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    answer = fictl("demo", str(tmp_path))
    assert (answer.code, ran) == (2, [])
    assert f"{tmp_path} is there and not empty" in answer.err


def test_the_first_command_that_fails_ends_it(fictl, tmp_path: Path) -> None:
    answer = fictl("demo", str(tmp_path / "torch"))
    assert answer.code == 1
    assert "'torch' cannot name a project" in answer.err
    assert "`fictl init torch` failed" in answer.err
    assert "$ fictl new-op" not in answer.err


@pytest.mark.needs_nvcc
def test_it_goes_all_the_way(fictl, users_cache: None) -> None:
    answer = fictl("demo")
    assert answer.code == 0, answer.err
    assert "✓ elementwise.swish" in answer.err
    assert "0 defects" in answer.err
