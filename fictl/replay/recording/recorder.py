"""Recorder: watches functions and classes, and keeps the calls that come from outside of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import Any

import torch

from fictl.op.watch.dump.values import Encoder
from fictl.replay.recording.document import (
    AttributeRead,
    Called,
    GraphEvent,
    Made,
    Recording,
    Step,
    Written,
)
from fictl.replay.recording.storages import Storages, place_of

# Runs a call: its name, the function, and the arguments.
Runs = Callable[[str, Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]


def run_it(name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Any) -> Any:
    return function(*args, **kwargs)


class Recorder:
    """Calls of what `watch` was given, in order, until `stop`.

    run: what runs in place of a call; a stub of its own is for recordings without kernels.
    place: where a tensor is to be in a replay. inside: a context for what is not the program's.
    """

    def __init__(
        self,
        run: Runs = run_it,
        place: Callable[[torch.Tensor], str] = place_of,
        inside: Callable[[], AbstractContextManager[Any]] = nullcontext,
    ) -> None:
        self._run = run
        self._around = inside
        self._storages = Storages(place)
        self._steps: list[Step] = []
        self._objects: dict[int, tuple[str, Any]] = {}
        self._read: dict[tuple[str, str], Any] = {}
        self._own: set[tuple[int, str]] = set()
        self._undo: list[Callable[[], None]] = []
        self._watched: dict[int, Any] = {}
        self._depth = 0

    def watch(self, name: str, value: Any) -> Any:
        """Return what records in place of `value`; a class is changed and returned itself."""
        if inspect.isclass(value):
            if id(value) not in self._watched:
                self._watched[id(value)] = value
                self._watch_class(name, value)
            return value
        return self._recording(name, value) if callable(value) else value

    def stop(self) -> None:
        """Give classes their own methods back."""
        while self._undo:
            self._undo.pop()()

    def graph(self, name: str, event: str) -> None:
        """Keep that a CUDA graph begins (capture), ends or runs (replay)."""
        self._steps.append(GraphEvent.model_validate({"graph": name, "event": event}))

    def recording(self, program: str, scene: str, api: str) -> Recording:
        return Recording(
            program=program,
            scene=scene,
            api=api,
            storages=self._storages.entries(),
            views=self._storages.views(),
            steps=[*self._steps],
        )

    def _recording(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            if self._depth:
                return function(*args, **kwargs)
            return self._called(name, function, args, kwargs)

        return recorded

    def _watch_class(self, name: str, kind: type) -> None:
        for method in [word for word in dir(kind) if not word.startswith("_")]:
            value = inspect.getattr_static(kind, method)
            function = getattr(kind, method)
            if not isinstance(value, property | staticmethod | classmethod) and callable(function):
                self._put(kind, method, self._method(name, method, function))
        self._put(kind, "__init__", self._making(name, kind, kind.__init__))  # type: ignore[misc]
        get: Any = kind.__getattribute__
        put: Any = kind.__setattr__
        self._put(kind, "__getattribute__", self._reading(get))
        self._put(kind, "__setattr__", self._setting(put))

    def _put(self, kind: type, name: str, function: Callable[..., Any]) -> None:
        own = vars(kind).get(name)

        def undo() -> None:
            if own is None:
                delattr(kind, name)
            else:
                setattr(kind, name, own)

        self._undo.append(undo)
        setattr(kind, name, function)

    def _method(self, kind: str, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def recorded(this: Any, *args: Any, **kwargs: Any) -> Any:
            if self._depth or id(this) not in self._objects:
                return function(this, *args, **kwargs)
            return self._called(f"{kind}.{name}", function, (this, *args), kwargs, name)

        return recorded

    def _making(self, name: str, kind: type, init: Callable[..., None]) -> Callable[..., None]:
        @wraps(init)
        def made(this: Any, *args: Any, **kwargs: Any) -> None:
            if self._depth or type(this) is not kind:
                return init(this, *args, **kwargs)
            known = f"o{len(self._objects)}"
            given, named = self._arguments(args, kwargs)
            self._steps.append(Made(object=known, name=name, args=given, kwargs=named))
            self._inside(lambda: init(this, *args, **kwargs))
            self._objects[id(this)] = (known, this)
            return None

        return made

    def _reading(self, get: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
        def read(this: Any, name: str) -> Any:
            value = get(this, name) if self._depth else self._inside(lambda: get(this, name))
            is_ours = not self._depth and id(this) in self._objects
            if is_ours and not name.startswith("__") and (id(this), name) not in self._own:
                self._note_read(self._objects[id(this)][0], name, value)
            return value

        return read

    def _setting(self, put: Callable[[Any, str, Any], None]) -> Callable[[Any, str, Any], None]:
        """Watch what the program puts into an object: it is the program's own, and no attribute."""

        def set_(this: Any, name: str, value: Any) -> None:
            if not self._depth:
                self._own.add((id(this), name))
            put(this, name, value)

        return set_

    def _note_read(self, known: str, name: str, value: Any) -> None:
        if callable(value):
            return
        encoded = self._encode(value)
        if "opaque" not in str(encoded) and self._read.get((known, name), self) != encoded:
            self._read[known, name] = encoded
            self._steps.append(AttributeRead(object=known, name=name, value=encoded))

    def _called(
        self,
        name: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        method: str = "",
    ) -> Any:
        known = self._objects[id(args[0])][0] if method else ""
        given, named = self._arguments(args[1:] if method else args, kwargs)
        at = len(self._steps)
        step = Called(object=known, name=method or name, args=given, kwargs=named)
        self._steps.append(step)
        try:
            result = self._inside(lambda: self._run(name, function, args, kwargs))
        except Exception as error:
            self._steps[at] = step.model_copy(update={"error": f"{type(error).__name__}: {error}"})
            raise
        for tensor in _tensors((args, kwargs)):
            self._storages.forget(tensor)
        self._steps[at] = step.model_copy(update={"result": self._encode(result)})
        return result

    def _inside(self, run: Callable[[], Any]) -> Any:
        self._depth += 1
        try:
            with self._around():
                return run()
        finally:
            self._depth -= 1

    def _arguments(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Encode arguments, behind the steps for integers that the program has put into them."""
        for tensor in _tensors((args, kwargs)):
            changed = self._storages.changed(tensor)
            if changed is not None:
                view = self._storages.index(tensor)
                self._steps.append(Written(view=view, runs=changed))
        return [*map(self._encode, args)], {n: self._encode(v) for n, v in kwargs.items()}

    def _encode(self, value: Any) -> Any:
        return self._inside(lambda: _CallEncoder(self._storages, self._objects).encode(value, "v"))


class _CallEncoder(Encoder):
    """Encodes tensors by their index, and objects that were made while recording by their name."""

    def __init__(self, storages: Storages, objects: Mapping[int, tuple[str, Any]]) -> None:
        super().__init__()
        self._storages = storages
        self._objects = objects

    def encode(self, value: Any, path: str, depth: int = 0) -> Any:
        if id(value) in self._objects:
            return {"object": self._objects[id(value)][0]}
        return super().encode(value, path, depth)

    def _keep(self, tensor: torch.Tensor, path: str) -> str:
        return str(self._storages.index(tensor))


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in _tensors(item)]
    return []
