"""The recorder keeps what a program calls: tensors by their storage, integers, and what it reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from fictl.replay.recording.document import AttributeRead, Called, GraphEvent, Made, Written
from fictl.replay.recording.memory import Memory
from fictl.replay.recording.recorder import Recorder


class Wrapper:
    """As the wrappers of attention: made with a buffer, planned with integers, run."""

    def __init__(self, buffer: torch.Tensor, layout: str = "NHD") -> None:
        self._buffer, self._window_left = buffer, -1
        self.plan(buffer)

    def plan(self, indptr: torch.Tensor) -> None:
        self._planned = indptr

    def run(self, q: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
        self.plan(self._planned)
        return q + 1 if out is None else out.copy_(q)


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    recorder = Recorder()
    recorder.watch("pkg.Wrapper", Wrapper)
    yield recorder
    recorder.stop()


def steps(recorder: Recorder) -> list[Any]:
    return recorder.recording("engine", "scene", "pkg 1").steps


def test_calls_from_outside_are_kept_and_those_within_are_not(recorder: Recorder) -> None:
    wrapper = Wrapper(torch.zeros(2, dtype=torch.int32), layout="HND")
    wrapper.plan(torch.zeros(2, dtype=torch.int32))
    wrapper.run(torch.ones(40))
    made, planned, ran = steps(recorder)
    assert isinstance(made, Made)
    assert (made.name, made.kwargs) == ("pkg.Wrapper", {"layout": "HND"})
    assert [(one.object, one.name) for one in (planned, ran)] == [("o0", "plan"), ("o0", "run")]
    assert ran.result == {"tensor": "3"}


def test_tensors_of_one_storage_are_known_as_such(recorder: Recorder) -> None:
    memory = torch.zeros(10, dtype=torch.int32)
    wrapper = Wrapper(memory[:4])
    wrapper.plan(memory[2:8:2])
    wrapper.plan(memory[:4])
    recording = recorder.recording("engine", "scene", "pkg 1")
    assert len(recording.storages) == 1
    assert recording.storages[0].bytes == 40
    assert [(view.shape, view.stride, view.offset) for view in recording.views] == [
        ((4,), (1,), 0),
        ((3,), (2,), 2),
    ]
    assert recording.steps[-1].args == [{"tensor": "0"}]


def test_integers_are_kept_where_a_replay_would_find_others(recorder: Recorder) -> None:
    indptr = torch.tensor([0, 3, 7, 8], dtype=torch.int32)
    wrapper = Wrapper(indptr)
    wrapper.plan(indptr)
    indptr[1] = 5
    wrapper.plan(indptr)
    written = [step for step in steps(recorder) if isinstance(step, Written)]
    assert len(written) == 2
    recording = recorder.recording("engine", "scene", "pkg 1")
    memory = Memory(recording, "cpu")
    for step, values in zip(written, ([0, 3, 7, 8], [0, 5, 7, 8]), strict=True):
        memory.write(step)
        assert memory[str(step.view)].tolist() == values


def test_floats_are_not_kept_but_few_are(recorder: Recorder) -> None:
    wrapper = Wrapper(torch.zeros(2, dtype=torch.int32))
    wrapper.run(torch.full((1,), 0.5))
    wrapper.run(torch.ones(100, dtype=torch.float16))
    recording = recorder.recording("engine", "scene", "pkg 1")
    assert [step.runs for step in steps(recorder) if isinstance(step, Written)] == [[(0.5, 0, 1)]]
    assert "float16" in [storage.fill for storage in recording.storages]
    assert Memory(recording, "cpu")[str(len(recording.views) - 2)].std() > 0.5


def test_attributes_that_a_program_reads_are_kept_and_its_own_are_not(recorder: Recorder) -> None:
    wrapper: Any = Wrapper(torch.zeros(2, dtype=torch.int32))
    wrapper.first_call = False
    assert (wrapper._window_left, wrapper._window_left, wrapper.first_call) == (-1, -1, False)
    _ = wrapper._buffer
    read = [step for step in steps(recorder) if isinstance(step, AttributeRead)]
    assert [(step.name, step.value) for step in read] == [
        ("_window_left", -1),
        ("_buffer", {"tensor": "0"}),
    ]


def test_an_error_is_kept_and_raised(recorder: Recorder) -> None:
    fails = recorder.watch("pkg.fails", lambda x: 1 // x)
    with pytest.raises(ZeroDivisionError):
        fails(0)
    assert steps(recorder)[-1].error.startswith("ZeroDivisionError: ")


def test_objects_are_arguments_by_their_names(recorder: Recorder) -> None:
    fast_plan = recorder.watch("pkg.fast_plan", lambda self, value: None)
    fast_plan(Wrapper(torch.zeros(1, dtype=torch.int32)), torch.bfloat16)
    called = steps(recorder)[-1]
    assert isinstance(called, Called)
    assert called.args == [{"object": "o0"}, {"dtype": "bfloat16"}]


def test_what_runs_instead_is_the_caller_s_choice() -> None:
    recorder = Recorder(lambda name, function, args, kwargs: f"not {name}")
    assert recorder.watch("pkg.f", lambda: 1 / 0)() == "not pkg.f"
    recorder.graph("g", "replay")
    assert isinstance(steps(recorder)[-1], GraphEvent)


def test_after_stop_a_class_is_as_it_was() -> None:
    before = dict(vars(Wrapper))
    recorder = Recorder()
    recorder.watch("pkg.Wrapper", Wrapper)
    assert dict(vars(Wrapper)) != before
    recorder.stop()
    assert dict(vars(Wrapper)) == before
