"""Player: makes the calls of a recording again, and compares each with what is expected of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

import torch

from fictl.case.compare import assert_close
from fictl.op.watch.dump.record import Refused
from fictl.op.watch.dump.values import Decoder
from fictl.project import Project
from fictl.project.discover import find_function
from fictl.replay.recording.document import (
    AttributeRead,
    Called,
    GraphEvent,
    Made,
    Recording,
    Step,
    Written,
)
from fictl.replay.recording.expectation import (
    PLAN_METHODS,
    Expected,
    arguments_of,
    by_trace,
    families,
)
from fictl.replay.recording.graphs import Graph
from fictl.replay.recording.memory import Memory
from fictl.replay.recording.messages import CallOutcome

# The module in a layer above that has the names of recordings.
_NAMES = {"flashinfer": "fictl.compat.flashinfer"}
_OUTPUTS = ("out", "lse")
# A call without results to compare.
RAN = "ran"


@dataclass
class _Object:
    """An object of the program: its class's name, and the arguments of its calls so far."""

    name: str
    value: Any
    built: Mapping[str, Any]
    planned: dict[str, Any] = field(default_factory=dict)
    refused: str = ""


class _Missing(Refused):
    """An object or a tensor of a call that was refused."""


@dataclass
class _Prepared:
    """A call that is ready to run: as often as its graph does."""

    step: int
    name: str
    run: Callable[[], Any]
    expected: Callable[[], Expected | None]
    given: Mapping[str, Any]
    result: Any


class Player:
    """Plays a recording on a device of torch. GPU graphs are captured and replayed as recorded."""

    def __init__(self, recording: Recording, device: str) -> None:
        self._recording = recording
        self._device = device
        self._memory = Memory(recording, device)
        self._objects: dict[str, _Object] = {}
        self._graphs: dict[str, Graph[_Prepared]] = {}
        self._capturing: Graph[_Prepared] | None = None
        self._outcomes: list[CallOutcome] = []

    def play(self) -> list[CallOutcome]:
        """Make all calls. An error of one ends no other, but those that need its result."""
        for index, step in enumerate(self._recording.steps):
            self._guarded(index, _name(step), partial(self._play, index, step))
        return self._outcomes

    def _guarded(self, index: int, name: str, run: Callable[[], None]) -> None:
        try:
            run()
        except AssertionError as error:
            self._add(index, name, "mismatch", str(error))
        except Refused as error:
            self._add(index, name, "refused", error.message)
        except NotImplementedError as error:
            self._add(index, name, "refused", _told(error))
        except Exception as error:
            self._add(index, name, "error", f"{type(error).__name__}: {_told(error)}")

    def _add(self, index: int, name: str, status: str, detail: str = "") -> None:
        self._outcomes.append(CallOutcome(index, name, status, detail))

    def _play(self, index: int, step: Step) -> None:
        if isinstance(step, Written):
            self._memory.write(step)
        elif isinstance(step, Made):
            self._make(index, step)
        elif isinstance(step, AttributeRead):
            self._read(index, step)
        elif isinstance(step, GraphEvent):
            self._graph(index, step)
        else:
            prepared = self._prepared(index, step)
            if self._capturing is not None:
                self._capturing.add(prepared)
            else:
                self._run(prepared)

    def _make(self, index: int, step: Made) -> None:
        kind = self._found(step.name)
        args, kwargs = self._arguments(step.args, step.kwargs)
        instance = kind(*args, **kwargs)
        given = arguments_of(kind.__init__, (instance, *args), kwargs)
        self._objects[step.object] = _Object(_last(step.name), instance, given)
        self._add(index, step.name, RAN)

    def _read(self, index: int, step: AttributeRead) -> None:
        owner = self._object(step.object)
        name = f"{owner.name}.{step.name}"
        if owner.refused:
            raise _Missing(owner.refused)
        expected = self._decoded(step.value)
        actual = getattr(owner.value, step.name)
        if isinstance(expected, torch.Tensor):
            same = isinstance(actual, torch.Tensor) and actual.data_ptr() == expected.data_ptr()
            assert same, f"{name} is not the tensor that the program was given"
        else:
            assert actual == expected, f"{name} is {actual!r}, recorded was {expected!r}"
        self._add(index, name, "match")

    def _graph(self, index: int, step: GraphEvent) -> None:
        if step.event == "capture":
            self._capturing = self._graphs[step.graph] = Graph(self._device)
        elif step.event == "end":
            graph, self._capturing = self._capturing, None
            if graph is not None:
                graph.capture()
        else:
            graph = self._graphs.get(step.graph)
            if graph is None:
                raise Refused(f"graph {step.graph!r} was not captured")
            expected = [call.expected() for call in graph.calls]
            graph.replay()
            for call, value in zip(graph.calls, expected, strict=True):
                self._compare_guarded(index, step.graph, call, graph.results[call.step], value)

    def _compare_guarded(
        self, index: int, graph: str, call: _Prepared, result: Any, expected: Expected | None
    ) -> None:
        name = f"{call.name} in graph {graph}"
        self._guarded(index, name, lambda: self._compare(index, name, call, result, expected))

    def _prepared(self, index: int, step: Called) -> _Prepared:
        args, kwargs = self._arguments(step.args, step.kwargs)
        if step.object:
            owner = self._object(step.object)
            name = f"{owner.name}.{step.name}"
            if step.name.startswith("_") or owner.name not in families():
                raise Refused(f"{name} is nothing that a replay calls")
            function = getattr(owner.value, step.name)
            return self._of_object(index, step, name, owner, function, args, kwargs)
        function = self._found(step.name)
        last = _last(step.name)
        if last in families().plans:
            owner = self._owner(args)
            return self._of_object(index, step, last, owner, function, args, kwargs, last)
        given = arguments_of(function, args, kwargs)
        expect = families().calls.get(last)
        return _Prepared(
            index,
            last,
            lambda: function(*args, **kwargs),
            lambda: Expected(**expect({}, {}, given)) if expect else by_trace(function, given),
            given,
            step.result,
        )

    def _of_object(
        self,
        index: int,
        step: Called,
        name: str,
        owner: _Object,
        function: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        plan: str = "",
    ) -> _Prepared:
        given = arguments_of(function, args, kwargs)
        if plan or step.name in PLAN_METHODS:

            def run() -> Any:
                owner.planned = {key: _kept(value) for key, value in given.items()}
                owner.refused = f"{name} went wrong before"
                result = function(*args, **kwargs)
                owner.refused = ""
                return result

            return _Prepared(index, name, run, lambda: None, given, None)
        if owner.refused:
            raise _Missing(owner.refused)
        expect = families().calls[owner.name]
        return _Prepared(
            index,
            name,
            lambda: function(*args, **kwargs),
            lambda: Expected(**expect(owner.built, owner.planned, given)),
            given,
            step.result,
        )

    def _run(self, call: _Prepared) -> None:
        expected = call.expected()
        _poison(call.given)
        result = call.run()
        self._compare(call.step, call.name, call, result, expected)

    def _compare(
        self, index: int, name: str, call: _Prepared, result: Any, expected: Expected | None
    ) -> None:
        self._adopt(call.result, result)
        if expected is None:
            self._add(index, name, RAN)
            return
        returned = result if isinstance(result, tuple | list) else (result,)
        if not expected.returned:
            returned = ()
        assert len(returned) == len(expected.returned), (
            f"it returned {len(returned)} tensors, expected are {len(expected.returned)}"
        )
        for i, (actual, value) in enumerate(zip(returned, expected.returned, strict=True)):
            assert_close(actual, value, f"result {i}", expected.tolerances)
        for parameter, value in expected.written.items():
            assert_close(call.given[parameter], value, parameter, expected.tolerances)
        self._add(index, name, "match")

    def _adopt(self, recorded: Any, actual: Any) -> None:
        """Find the tensors of a result again where later calls are given them."""
        if isinstance(recorded, dict) and "tensor" in recorded:
            if not isinstance(actual, torch.Tensor):
                raise AssertionError(f"it returned {actual!r:.80}, recorded was a tensor")
            if recorded["tensor"] in self._memory:
                self._memory.adopt(recorded["tensor"], actual)
        elif isinstance(recorded, dict) and "tuple" in recorded:
            self._adopt(recorded["tuple"], actual)
        elif isinstance(recorded, list) and isinstance(actual, tuple | list):
            for one, other in zip(recorded, actual, strict=False):
                self._adopt(one, other)

    def _arguments(
        self, args: list[Any], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (
            tuple(map(self._decoded, args)),
            {name: self._decoded(value) for name, value in kwargs.items()},
        )

    def _decoded(self, value: Any) -> Any:
        decoder = _CallDecoder(self._memory, {}, self._device)  # type: ignore[arg-type]
        decoder.objects = self._objects
        decoded = decoder.decode(value)
        if decoder.opaque:
            raise Refused(f"it was given {', '.join(decoder.opaque)}, which no recording can hold")
        return decoded

    def _object(self, name: str) -> _Object:
        if name not in self._objects:
            raise _Missing(f"object {name!r} does not exist")
        return self._objects[name]

    def _owner(self, args: tuple[Any, ...]) -> _Object:
        for owner in self._objects.values():
            if args and owner.value is args[0]:
                return owner
        raise Refused("its first argument is not an object of the recording")

    def _found(self, name: str) -> Any:
        """Return what has that name; only what can be compared is ever looked up."""
        package, _, rest = name.partition(".")
        *parts, last = rest.split(".")
        if package not in _NAMES or any(
            part.startswith("_") or not part for part in [*parts, last]
        ):
            raise Refused(f"{name!r:.120} is not a name of a recording")
        module = import_module(_NAMES[package])
        try:
            for part in parts:
                module = getattr(module, part)
            value = getattr(module, last)
        except AttributeError as error:
            raise Refused(str(error)) from None
        if last not in families() and find_function(last, Project.shipped()) is None:
            raise Refused(f"{name} is nothing that a replay calls: it is not an op")
        return value


class _CallDecoder(Decoder):
    """Decodes objects of the recording, too."""

    objects: Mapping[str, _Object]

    def _leaf(self, tag: str, inner: Any) -> Any:
        if tag != "object":
            return super()._leaf(tag, inner)
        if not isinstance(inner, str) or inner not in self.objects:
            raise _Missing(f"object {inner!r:.40} does not exist")
        return self.objects[inner].value


def _kept(value: Any) -> Any:
    """Return a copy of the integers that a plan was given: programs use their buffers again."""
    is_integers = isinstance(value, torch.Tensor) and not value.is_floating_point()
    return value.clone() if is_integers else value


def _poison(given: Mapping[str, Any]) -> None:
    for name in _OUTPUTS:
        tensor = given.get(name)
        if isinstance(tensor, torch.Tensor) and tensor.dtype.itemsize > 1:
            tensor.fill_(torch.nan)


def _name(step: Step) -> str:
    if isinstance(step, Written):
        return "write"
    if isinstance(step, GraphEvent):
        return f"graph {step.graph} {step.event}"
    return f"{step.object}.{step.name}" if getattr(step, "object", "") else step.name


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _told(error: BaseException) -> str:
    return str(getattr(error, "message", error))
