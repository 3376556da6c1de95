"""Ops and files by name, kernels by pattern, and the same ops as they were."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fictl.arch import Arch
from fictl.errors import FictlError, UsageError
from fictl.inspect import selection
from fictl.inspect.inspected import Inspected
from fictl.inspect.selection import inspect, inspect_revision, only
from fictl.jit.progress import LogObserver

HOPPER = (Arch.parse("9.0a"),)
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The specs that would be compiled, and the text of their launchers at that time."""
    specs: list[Any] = []

    def inspect_specs(wanted, archs, observer):
        specs.extend((spec, spec.sources[0].read_text()) for spec in wanted)
        return [Inspected(spec.name) for spec in wanted]

    monkeypatch.setattr(selection, "inspect_specs", inspect_specs)
    return specs


def test_ops_and_files_are_told_apart(tiny: Path, asked, monkeypatch) -> None:
    monkeypatch.setattr(selection, "inspect_file", lambda path: Inspected(path.name))
    (tiny / "mine.cu").write_text("__global__ void k() {}\n")
    found = inspect(["mine.cu", "twice", "a.cubin", "b/module.so"], HOPPER, LogObserver())
    names = [one.module for one in found]
    assert names == ["elementwise.twice", "mine", "a.cubin", "module.so"]


def test_without_names_it_is_the_project_here(tiny: Path, asked) -> None:
    assert [one.module for one in inspect([], HOPPER, LogObserver())] == ["elementwise.twice"]


def test_a_source_file_may_include_what_lies_beside_it(tiny: Path, asked) -> None:
    (tiny / "mine.cu").write_text("")
    inspect(["mine.cu"], HOPPER, LogObserver())
    ((spec, _),) = asked
    assert tiny in spec.include_dirs
    assert spec.fallback_archs == "8.0"


def test_code_for_another_architecture_is_told(kernel, monkeypatch) -> None:
    found = Inspected("a.so", ("8.0", "9.0a"), kernels=(kernel(arch="8.0"), kernel()))
    monkeypatch.setattr(selection, "inspect_file", lambda path: found)
    (only_hopper,) = inspect(["a.so"], HOPPER, LogObserver())
    assert [each.arch for each in only_hopper.kernels] == ["9.0a"]
    with pytest.raises(UsageError, match=r"a\.so has no code for 12\.0") as error:
        inspect(["a.so"], (Arch.parse("12.0"),), LogObserver())
    assert "8.0, 9.0a" in error.value.hint


def test_kernels_are_picked_by_a_part_of_their_name(kernel) -> None:
    one, two = kernel(), kernel(mangled="_ZN1a4moveEPf")
    (kept,) = only([Inspected("m", kernels=(one, two)), Inspected("n", kernels=(one,))], "mo.e")
    assert kept.kernels == (two,)


@pytest.mark.parametrize(
    ("pattern", "said"), [("zzz", "no kernel's name has 'zzz'"), ("(", "not a regular expression")]
)
def test_a_pattern_that_finds_nothing_is_refused(kernel, pattern: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        only([Inspected("m", kernels=(kernel(),))], pattern)


def test_a_module_that_failed_is_kept_to_be_told(kernel) -> None:
    failed = Inspected("m", error=FictlError("it does not build"))
    assert only([failed], "copy") == [failed]


def test_the_same_ops_as_they_were(tiny: Path, asked) -> None:
    shutil.rmtree(tiny / "__pycache__", ignore_errors=True)
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "one")):
        subprocess.run([*GIT, *words], check=True)
    launcher = tiny / "kernels" / "elementwise" / "twice" / "launcher.cu"
    before = launcher.read_text()
    launcher.write_text("// changed\n")
    label, (found,) = inspect_revision(["tiny/twice"], "HEAD", HOPPER, LogObserver())
    ((spec, text),) = asked
    assert text == before
    assert label.startswith("HEAD (")
    assert spec.project.startswith("tiny_")
    assert (found.module, found.sources) == ("elementwise.twice", None)


def test_a_file_has_no_revisions() -> None:
    with pytest.raises(UsageError, match=r"a\.cubin is a file"):
        inspect_revision(["a.cubin"], "HEAD", HOPPER, LogObserver())
