"""aot build and artifacts build with --on: builds of places, of one kind of compiler or of each."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from fictl.farm.spread.command_job import CommandJob, SpreadResults
from fictl.jit.store.entry import Manifest
from fictl.paths import cache_root

_PLACES = """
[[place]]
name = "far"
launch = ["env"]
variables = { FICTL_WORKSPACE_BASE = "%(base)s" }
[[place]]
name = "clang"
launch = ["env"]
variables = { FICTL_WORKSPACE_BASE = "%(base)s", CXX = "%(clang)s" }
"""

needs_both = pytest.mark.skipif(
    not (shutil.which("g++") and shutil.which("clang++")), reason="needs g++ and clang++"
)


@pytest.fixture
def on(tiny: Path, tmp_path: Path) -> str:
    path = tmp_path / "places.toml"
    values = {"base": tmp_path / "far", "clang": shutil.which("clang++") or "clang++"}
    path.write_text(_PLACES % values)
    return str(path)


@needs_both
@pytest.mark.needs_nvcc
def test_a_place_with_other_compilers_is_left_out_or_builds_its_own(
    fictl, on: str, tmp_path: Path
) -> None:
    words = ("artifacts", "build", "--arch", "8.0", "--on", on, "--dir", str(tmp_path / "a"))
    answer = fictl(*words, "same", "--json")
    assert answer.code == 0, answer.err
    data = answer.document["data"]
    assert [module["place"] for module in data["modules"]] == ["far"]
    assert [why.partition(": cxx is ")[0] for why in data["left_out"]] == [
        "place clang left out: its compilers differ from those here"
    ]
    assert "--toolchain any" in data["left_out"][0]

    answer = fictl(*words, "each", "--toolchain", "any", "--json")
    assert answer.code == 0, answer.err
    modules = answer.document["data"]["modules"]
    assert {module["place"] for module in modules} == {"far", "clang"}
    assert len({module["build"] for module in modules}) == 2
    assert len({module["recipe"] for module in modules}) == 1
    assert answer.document["data"]["size"] > data["size"]
    assert fictl("artifacts", "verify", str(tmp_path / "a")).code == 0

    out = tmp_path / "aot"
    words = ("aot", "build", "--out", str(out), "--arch", "8.0", "--on", on, "--toolchain", "any")
    answer = fictl(*words, "--json")
    assert answer.code == 0, answer.err
    assert {module["place"] for module in answer.document["data"]["modules"]} == {"far", "clang"}
    assert len([*out.rglob("module.so")]) == 2
    assert fictl("aot", "verify", str(out)).code == 0


def test_what_is_wrong_here_is_said_before_a_place_works(fictl, on: str, tiny: Path) -> None:
    for words, why in (
        (("artifacts", "build", "../x", "--on", on), "../x"),
        (("aot", "build", "--out", str(tiny), "--on", on), "did not put there"),
        (("build", "--toolchain", "any"), "--toolchain any is about places"),
        (("build", "--on", on, "--toolchain", "mine"), "--toolchain is 'mine'"),
    ):
        answer = fictl(*words)
        assert answer.code == 2
        assert why in answer.err
        assert "place" not in answer.err.replace("about places", "")


@pytest.mark.parametrize("command", [("build",), ("aot", "build", "--out", "out")])
def test_ops_that_took_longest_are_handed_out_first(
    fictl, twice_build: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    """The history is that of the builds in the cache."""
    for name, seconds in (("quick", 1e-3), ("slow", 5e3)):
        entry = cache_root() / "v1" / "tiny" / f"elementwise.{name}" / "r" / "b"
        shutil.copytree(twice_build, entry)
        path = tiny / "kernels" / "elementwise" / name
        shutil.copytree(tiny / "kernels" / "elementwise" / "twice", path)
        op = path / "op.py"
        op.write_text(op.read_text().replace("def twice(", f"def {name}("))
        _took(entry / "manifest.json", name, seconds)
    asked: list[list[str]] = []

    def spread(jobs: list[CommandJob], *rest: object) -> SpreadResults:
        asked.append([job.name for job in sorted(jobs, key=lambda job: -job.seconds)])
        raise KeyboardInterrupt

    monkeypatch.setattr("fictl.farm.spread.spread.spread", spread)
    fictl(*command, "--arch", "8.0", "--on", "ssh:nowhere")
    assert asked == [["tiny/elementwise/slow", "tiny/elementwise/twice", "tiny/elementwise/quick"]]


def _took(manifest: Path, name: str, seconds: float) -> None:
    read = Manifest.from_json(manifest.read_text())
    names = {"module": f"elementwise.{name}", "recipe": "r", "build": "b"}
    manifest.write_text(replace(read, **names, seconds=seconds).to_json())
