"""The registry: who builds, what is built once, what is remembered, who comes first."""

from __future__ import annotations

import threading
import time

import pytest
import torch

from fictl.jit.store.lock import is_held
from fictl.runnable import Builder, BuilderRegistry, BuildError, Runnable, RunnableMetadata
from fictl.runnable.alone import LOCKS
from fictl.runnable.builders import PythonBuilder, TVMFFIBuilder
from fictl.runnable.error import machine_error

RUN = "def run(x, s):\n    return x * s\n"
X = torch.arange(4.0)


class Counting(Builder):
    """Builds whatever it is asked for, or raises what `error` is."""

    def __init__(self, error=None):
        super().__init__("counting_", "counting")
        self.asked = []
        self.cleaned = []
        self.error = error

    @staticmethod
    def is_available():
        return True

    def can_build(self, solution):
        return True

    def build(self, definition, solution):
        self.asked.append(solution.name)
        if self.error:
            raise self.error
        metadata = RunnableMetadata(
            build_type="counting",
            definition_name=definition.name,
            solution_name=solution.name,
            definition=definition,
        )
        return Runnable(lambda *args: args, metadata, lambda: self.cleaned.append(1))


def test_it_needs_a_builder():
    with pytest.raises(ValueError, match="at least one"):
        BuilderRegistry([])


def test_the_shipped_builders_in_their_order():
    registry = BuilderRegistry.get_instance()
    names = [type(builder).__name__ for builder in registry.builders]
    order = ["TritonBuilder", "TileLangBuilder", "PythonBuilder", "TVMFFIBuilder", "TorchBuilder"]
    assert names == [name for name in order if name in names]
    assert {"PythonBuilder", "TVMFFIBuilder", "TorchBuilder"} <= {*names}
    assert BuilderRegistry.get_instance() is registry


def test_threads_get_one_instance():
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(BuilderRegistry.get_instance()))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(each) for each in found}) == 1


def test_a_solution_is_built_once(definition, solution):
    builder = Counting()
    registry = BuilderRegistry([builder])
    first, second = (registry.build(definition, solution(RUN)) for _ in range(2))
    assert first is second
    assert builder.asked == ["answer"]


def test_what_was_built_before_costs_little(definition, solution, kept):
    registry, made = BuilderRegistry([PythonBuilder()]), solution(RUN)
    registry.build(definition, made)

    def seconds():
        start = time.process_time()
        registry.build(definition, solution(RUN))
        return time.process_time() - start

    assert min(seconds() for _ in range(5)) < 0.005
    registry.cleanup()


def test_threads_build_a_solution_once(definition, solution):
    started = threading.Event()

    class Slow(Counting):
        def build(self, definition, solution):
            started.wait(5)
            return super().build(definition, solution)

    builder, found = Slow(), []
    registry = BuilderRegistry([builder])
    threads = [
        threading.Thread(target=lambda: found.append(registry.build(definition, solution(RUN))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    started.set()
    for thread in threads:
        thread.join()
    assert builder.asked == ["answer"]
    assert len({id(each) for each in found}) == 1


def test_processes_take_turns_unless_the_builder_takes_care(definition, solution, kept):
    seen = []

    class Looking(Counting):
        def build(self, definition, solution):
            seen.append(is_held(kept / LOCKS / f"{solution.hash()}.lock"))
            return super().build(definition, solution)

    class Careful(Looking):
        is_process_safe = True

    for builder in (Looking(), Careful()):
        BuilderRegistry([builder]).build(definition, solution(RUN))
    assert seen == [True, False]
    assert not is_held(kept / LOCKS / f"{solution(RUN).hash()}.lock")


def test_calling_conventions_do_not_meet(definition, solution):
    builder = Counting()
    registry = BuilderRegistry([builder])
    for dps in (False, True):
        registry.build(definition, solution(RUN, dps=dps))
    assert len(builder.asked) == 2


def test_devices_do_not_meet(definition, solution, monkeypatch):
    builder = Counting()
    registry = BuilderRegistry([builder])
    for device in ("cuda", "emu", "cuda"):
        monkeypatch.setenv("FICTL_DEVICE", device)
        registry.build(definition, solution(RUN))
    assert len(builder.asked) == 2


def test_the_same_content_bears_the_name_that_was_asked_for(definition, solution):
    builder = Counting()
    registry = BuilderRegistry([builder])
    first = registry.build(definition, solution(RUN, name="one"))
    second = registry.build(definition, solution(RUN, name="two"))
    assert [first.metadata.solution_name, second.metadata.solution_name] == ["one", "two"]
    assert builder.asked == ["one"]


def test_another_definition_is_the_one_that_arguments_follow(definition, defined, solution):
    builder = Counting()
    registry = BuilderRegistry([builder])
    registry.build(definition, solution(RUN))
    other = defined({"s": None, "x": ["n"]}, {"y": ["n"]})
    runnable = registry.build(other, solution(RUN))
    assert runnable.call_kwargs(x=1, s=2, y=3) == (2, 1, 3)
    assert builder.asked == ["answer"]


def test_what_was_cleaned_up_is_built_again(definition, solution):
    builder = Counting()
    registry = BuilderRegistry([builder])
    registry.build(definition, solution(RUN, name="one")).cleanup()
    registry.build(definition, solution(RUN, name="two"))
    assert builder.asked == ["one", "two"]
    assert builder.cleaned == [1]


def test_cleanup_reaches_all_whatever_fails(definition, solution):
    cleaned = []

    class Failing(Counting):
        def build(self, definition, solution):
            runnable = super().build(definition, solution)

            def clean():
                cleaned.append(solution.name)
                raise OSError(solution.name)

            return Runnable(runnable, runnable.metadata, clean)

    registry = BuilderRegistry([Failing()])
    for name in ("one", "two"):
        registry.build(definition, solution(f"# {name}\n{RUN}", name=name))
    registry.cleanup()
    assert cleaned == ["one", "two"]
    registry.cleanup()
    assert cleaned == ["one", "two"]


def test_a_failure_is_remembered_and_stays_readable(definition, solution):
    builder = Counting(BuildError("it is wrong", "right it", log="all of it", first_error="here"))
    registry = BuilderRegistry([builder])
    errors = []
    for _ in range(2):
        with pytest.raises(BuildError, match="it is wrong") as raised:
            registry.build(definition, solution(RUN))
        errors.append(raised.value)
    assert builder.asked == ["answer"]
    assert errors[0] is not errors[1]
    said = [(e.message, e.hint, e.log, e.first_error, e.exit_code) for e in errors]
    assert said == [("it is wrong", "right it", "all of it", "here", 1)] * 2


def test_a_failure_of_the_machine_is_not_remembered(definition, solution):
    builder = Counting(machine_error("no compiler", "install one"))
    registry = BuilderRegistry([builder])
    with pytest.raises(BuildError, match="no compiler"):
        registry.build(definition, solution(RUN))
    builder.error = None
    assert registry.build(definition, solution(RUN))


def test_whatever_a_builder_raises_is_a_build_error(definition, solution):
    registry = BuilderRegistry([Counting(ZeroDivisionError("oh"))])
    with pytest.raises(BuildError, match="Counting failed with ZeroDivisionError: oh"):
        registry.build(definition, solution(RUN))


def test_the_reference_returns_its_outputs(definition, kept):
    runnable = BuilderRegistry([PythonBuilder()]).build_reference(definition)
    assert torch.equal(runnable(x=X, s=2.0), X * 2)
    assert runnable.metadata.solution_name == "scaled__reference"
    assert not runnable.metadata.destination_passing_style
    assert runnable.metadata.build_type == "python"


def test_what_no_builder_is_for_is_said(definition, exporting):
    with pytest.raises(BuildError, match="there is no builder for answer: language cpp") as raised:
        BuilderRegistry([PythonBuilder()]).build(definition, exporting())
    assert "PythonBuilder" in raised.value.hint


def test_what_is_not_installed_is_said(definition, exporting, monkeypatch):
    monkeypatch.setattr(TVMFFIBuilder, "is_available", staticmethod(lambda: False))
    with pytest.raises(BuildError, match="cannot be built here") as raised:
        BuilderRegistry([PythonBuilder()]).build(definition, exporting())
    assert "pip install" in raised.value.hint
    assert raised.value.exit_code == 3
