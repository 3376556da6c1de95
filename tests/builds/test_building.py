"""Building by name: what is said of each module, and that one failure stays alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from fictl.arch import Arch
from fictl.builds.building import build, build_timed, plan, specs_of
from fictl.errors import UsageError
from fictl.jit import BuildFailed
from fictl.jit.progress import LogObserver
from fictl.paths import cache_root

A100 = (Arch(8, 0),)


def _another(root: Path, module: str, launcher: str) -> None:
    """A second op in the same family, with a launcher of its own."""
    family = root / "kernels" / "elementwise"
    shutil.copytree(family / "twice", family / module)
    (family / module / "launcher.cu").write_text(launcher, encoding="utf-8")


def test_without_names_it_is_the_project_here(tiny: Path) -> None:
    assert [(spec.project, spec.name) for spec in specs_of([])] == [("tiny", "elementwise.twice")]


def test_an_unknown_op_is_named(tiny: Path) -> None:
    with pytest.raises(UsageError, match="there is no op 'twise'"):
        specs_of(["twise"])


@pytest.mark.needs_nvcc
def test_a_build_says_what_it_made_and_the_next_finds_it(tiny: Path) -> None:
    (first,) = build(["twice"], A100, LogObserver())
    (second,) = build(["twice"], A100, LogObserver())
    assert (first.module, first.archs, first.origin) == ("elementwise.twice", ("8.0",), "flag")
    assert first.error is None
    assert (Path(first.path) / "module.so").is_file()
    assert Path(first.path).parts[-2:] == (first.recipe, first.build)
    assert (first.compiled, second.compiled) == (True, False)
    assert json.loads(json.dumps(first.to_dict()))["path"] == first.path == second.path


@pytest.mark.needs_nvcc
def test_one_that_fails_leaves_the_others_alone(tiny: Path) -> None:
    _another(tiny, "broken", '#error "half done"\n')
    broken, twice = build([], A100, LogObserver())
    assert isinstance(broken.error, BuildFailed)
    assert "half done" in broken.error.message
    assert (twice.module, twice.error) == ("elementwise.twice", None)
    error = json.loads(json.dumps(broken.to_dict()))["error"]
    assert error == broken.error.to_dict()
    assert error["code"] == "build-failed"


@pytest.mark.needs_nvcc
def test_a_plan_shows_flags_and_commands_and_runs_none(tiny: Path) -> None:
    (planned,) = plan(["twice"], (Arch(8, 0), Arch(12, 0, "a")))
    assert (planned.archs, planned.origin, planned.warning) == (("8.0", "12.0a"), "flag", "")
    assert "-gencode=arch=compute_80,code=sm_80" in planned.flags["nvcc"]
    assert "-DFICTL_ENABLE_FP8_E8M0" in planned.flags["nvcc"]
    assert [command.split(" -o ")[1].split()[0] for command in planned.commands] == [
        "launcher.o",
        "binding.o",
        "module.so",
    ]
    assert not list(cache_root().rglob("module.so"))
    assert not list(cache_root().rglob("staging/*"))


@pytest.mark.needs_nvcc
def test_a_plan_is_json(tiny: Path) -> None:
    (planned,) = plan(["twice"], A100)
    data = json.loads(json.dumps(planned.to_dict()))
    assert data["module"] == "elementwise.twice"
    assert set(data["flags"]) == {"nvcc", "cxx", "link"}


@pytest.mark.needs_nvcc
def test_a_timed_build_has_times_where_there_is_a_build(tiny: Path) -> None:
    _another(tiny, "broken", '#error "half done"\n')
    broken, twice = build_timed([], A100, LogObserver())
    assert isinstance(broken.error, BuildFailed)
    assert broken.time is None
    assert twice.time is not None
    assert json.loads(json.dumps(twice.to_dict()))["cold_seconds"] > 0


@pytest.mark.needs_nvcc
def test_a_measurement_that_fails_is_the_error_of_that_module(tiny: Path, monkeypatch) -> None:
    build(["twice"], A100, LogObserver())
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    (built,) = build_timed(["twice"], A100, LogObserver())
    assert built.error is not None
    assert "forbids to compile" in built.error.message
