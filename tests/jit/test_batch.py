"""Many modules at once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fictl.errors import FictlError
from fictl.jit import BuildFailed, batch, build_jit_specs
from fictl.jit.batch import build_all
from fictl.jit.progress import LogObserver

pytestmark = pytest.mark.needs_nvcc


@pytest.fixture
def named(answer):
    def make(name, value=42, above=""):
        return replace(answer(value, folder=name, above=above), name=name)

    return make


def test_all_are_built(named, compiled):
    specs = [named(f"m{number}", number) for number in range(4)]
    build_jit_specs(specs)
    assert len(compiled()) == 4
    assert [spec.try_load().answer() for spec in specs] == [0, 1, 2, 3]


def test_one_that_fails_leaves_the_others_alone(named):
    good, bad = named("good"), named("bad", above="#error out of order")
    gone = named("gone")
    gone.sources[0].unlink()
    with pytest.raises(FictlError, match="2 of 3 modules do not build") as caught:
        build_jit_specs([gone, bad, good])
    assert "bad does not build" in caught.value.message
    assert "out of order" in caught.value.message
    assert f"{gone.sources[0]} cannot be read" in caught.value.message
    assert good.try_load().answer() == 42


def test_what_a_store_serves_already_is_left_out(named, compiled, monkeypatch):
    spec = named("m")
    build_jit_specs([spec])
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", "9.0a")
    build_jit_specs([spec])
    assert len(spec.build().archs) == 1
    assert compiled() == ["answer.o"]


def test_what_a_store_serves_is_built_for_the_targets_if_asked_to(named, monkeypatch):
    spec = named("m")
    build_jit_specs([spec])
    monkeypatch.setenv("FICTL_CUDA_ARCH_LIST", "9.0a")
    monkeypatch.setattr(batch, "find", lambda _: pytest.fail("looked for"))
    build_jit_specs([spec], skip_prebuilt=False)
    assert [str(arch) for arch in spec.build().archs] == ["9.0a"]


def test_verbose_says_every_line(named, caplog):
    build_jit_specs([named("m")], verbose=True)
    assert "answer.cpp -o answer.o" in caplog.text


def test_a_module_that_is_asked_for_twice_is_compiled_once(named, compiled):
    build_jit_specs([named("m")] * 4)
    assert compiled() == ["answer.o"]


def test_no_specs_are_no_work():
    build_jit_specs([])


def test_outcomes_and_errors_come_in_order(named):
    specs = [named("one"), named("two", above="#error no"), named("three")]
    results = build_all(specs, (), LogObserver())
    assert [type(result).__name__ for result in results] == [
        "BuildOutcome",
        "BuildFailed",
        "BuildOutcome",
    ]
    assert isinstance(results[1], BuildFailed)
    assert results[2].entry.manifest.module == "three"


@pytest.mark.parametrize(
    ("cores", "room", "limit", "specs", "expected"),
    [
        (8, 99, None, 3, [2, 2, 2]),  # cores are shared out
        (2, 99, None, 3, [1, 1, 1]),
        (8, 0, None, 2, [1, 1]),  # one at a time where memory is short
        (2, 0, "6", 2, [3, 3]),  # unless the user decides
    ],
)
def test_cores_and_memory_are_shared_out(named, monkeypatch, cores, room, limit, specs, expected):
    shares = []
    monkeypatch.setattr(batch, "usable_cores", lambda: cores)
    monkeypatch.setattr(batch, "fitting", lambda: room)
    monkeypatch.setattr(batch, "ensure", lambda *_, cores, **__: shares.append(cores))
    if limit:
        monkeypatch.setenv("FICTL_MAX_JOBS", limit)
    build_all([named(f"m{number}") for number in range(specs)], (), LogObserver())
    assert shares == expected
