"""A failure is told to those who waited for the same build, and to nobody else."""

from __future__ import annotations

import time

import pytest

from fictl.jit import BuildFailed
from fictl.jit.diagnose import Diagnosis
from fictl.jit.store.failure import Failure
from fictl.paths import cache_root
from fictl.sealed import seal, unseal

DIAGNOSIS = Diagnosis("x.cu(1): error: no", "say yes")


@pytest.fixture
def failed(tmp_path):
    folder = tmp_path / "failed"
    folder.mkdir()
    Failure.of("recipe", "build", DIAGNOSIS).write(folder)
    return tmp_path


def test_it_reads_back_as_the_same_error(failed):
    error = Failure.read(failed).error("norm.rmsnorm", failed)
    assert error.message == "norm.rmsnorm does not build: x.cu(1): error: no"
    assert str(failed / "failed") in error.hint


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"recipe": 1}', "\x00"])
def test_a_file_of_another_shape_is_no_failure(failed, text):
    (failed / "failed" / "failure.json").write_text(text)
    assert Failure.read(failed) is None


def test_where_nothing_failed_there_is_none(tmp_path):
    assert Failure.read(tmp_path) is None


@pytest.mark.needs_nvcc
def test_a_failure_from_before_this_build_was_asked_for_does_not_count(answer, compiled):
    spec = answer(above="#error no")
    for _ in range(2):
        with pytest.raises(BuildFailed):
            spec.build()
    assert len(compiled()) == 2


@pytest.mark.needs_nvcc
def test_the_failure_of_the_holder_is_the_failure_of_those_who_waited(
    answer, compiled, monkeypatch
):
    spec = answer(above="#error no")
    with pytest.raises(BuildFailed) as first:
        spec.build()
    (path,) = cache_root().glob("v1/*/*/failed/failure.json")
    # As if it had happened while the next one waited for the lock.
    path.write_text(seal({**unseal(path.read_text()), "when": time.time() + 0.2}))
    monkeypatch.setattr("fictl.jit.build.make_plan", _slowly)
    with pytest.raises(BuildFailed) as second:
        spec.build()
    assert second.value.message == first.value.message
    assert len(compiled()) == 1


def _slowly(*arguments):
    from fictl.jit.plan import make_plan

    time.sleep(0.3)
    return make_plan(*arguments)
