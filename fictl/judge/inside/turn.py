"""The solution's side of one turn: its call over memory that is lent, and its results put there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from fictl.judge.exchange.layout import Layout
from fictl.judge.exchange.memory import Memory
from fictl.judge.modes import RETURNS
from fictl.trace import Definition

if TYPE_CHECKING:
    import torch

    from fictl.runnable import Runnable

# Of a GPU, in bytes.
_PAGE = 2 << 20

_READING = ("__iter__", "__getitem__", "__len__", "__getattribute__")

SHAPE, DTYPE, HACK = "INCORRECT_SHAPE", "INCORRECT_DTYPE", "REWARD_HACK"
WRONG = "INCORRECT_NUMERICAL"


class Misfit(Exception):
    """What was returned is not what the definition says; `status` is what this is called."""

    def __init__(self, status: str, note: str) -> None:
        super().__init__(note)
        self.status, self.note = status, note


class Turn:
    """New objects for each call, over memory that no earlier call has seen.

    Nothing can be set on it, and results are found by their positions.
    """

    __slots__ = ("_definition", "_given", "_inputs", "_left", "_lent", "_out", "_result")

    def __init__(
        self, definition: Definition, layout: Layout, numbers: dict[str, Any], memory: Memory
    ) -> None:
        inputs: dict[str, Any] = {part.name: part.view(memory) for part in layout.inputs}
        inputs |= numbers
        self._definition, self._lent = definition, memory.bytes_at(0, layout.size)
        self._inputs = [inputs[name] for name in definition.inputs]
        places = inputs | {part.name: part.view(memory) for part in layout.outputs}
        self._out: dict[str, torch.Tensor] = {name: places[name] for name in definition.outputs}
        self._given: list[Any] | None = None
        self._result: Any = None
        self._left: list[torch.Tensor] = []

    def call(self, runnable: Runnable) -> None:
        if runnable.metadata.destination_passing_style:
            self._given = [*self._out.values()]
            runnable.call_destination_passing(*self._inputs, *self._given)
        else:
            self._result = runnable.call_value_returning(*self._inputs)

    def idle(self, style: str, blank: dict[str, torch.Tensor]) -> None:
        """In place of a call: nothing, or results of the right sizes, which `blank` keeps."""
        self._given = [*self._out.values()]
        if style == RETURNS:
            for name, place in self._out.items():
                if name not in blank or blank[name].shape != place.shape:
                    blank[name] = place.clone()
            self._given, self._result = None, [*blank.values()]

    def deliver(self) -> None:
        """Copy what was returned to where the referee reads it: this is a part of the turn's time."""
        if self._given is not None:
            return
        result, self._result = self._result, None
        values = [_plain(name, value) for name, value in self._named(result)]
        for shape in (True, False):  # Every shape first: it is wrong whatever the dtype is.
            for (name, place), value in zip(self._out.items(), values, strict=True):
                _require_fit(name, value, place, shape=shape)
        for place, value in zip(self._out.values(), values, strict=True):
            if value.data_ptr() != place.data_ptr() or value.stride() != place.stride():
                place.copy_(value)
        self._result = values

    def places(self) -> dict[str, int]:
        """Where the memory of each output begins that is a new one."""
        if self._given is not None:
            return {}
        return {
            name: value.untyped_storage().data_ptr()
            for name, value in self._results()
            if value.numel() and name not in self._definition.inputs
        }

    def aliased(self) -> tuple[str, str]:
        """An output, and the input or the output's own place that it lies in."""
        names = [*zip(self._definition.inputs, self._inputs, strict=True), *self._out.items()]
        lent = {
            value.untyped_storage().data_ptr(): name
            for name, value in names
            if hasattr(value, "untyped_storage") and value.numel()
        }
        found = ((name, lent.get(place, "")) for name, place in self.places().items())
        return next(((output, other) for output, other in found if other), ("", ""))

    def touch(self) -> None:
        """Every page of what is lent, in one kernel."""
        self._lent[::_PAGE].sum()

    def keep(self) -> None:
        """What was written, as it is in the order of the stream: other streams may be behind it."""
        self._left = [value.clone() for value in self._given or ()]

    def changed_since(self) -> str:
        """The output that is not what was delivered."""
        kept = zip(self._out, self._left, strict=False) if self._given else self._results()
        return next((n for n, value in kept if not same(value, self._out[n])), "")

    def _results(self) -> Iterator[tuple[str, torch.Tensor]]:
        return zip(self._out, self._result or (), strict=False)

    def _named(self, result: Any) -> Iterator[tuple[str, Any]]:
        values = _values(result)
        if len(values) != len(self._out) or (len(values) == 1 and values[0] is None):
            count = 0 if result is None else len(values)
            said = f"it returned {count} values, its outputs are {', '.join(self._out)}"
            raise Misfit(SHAPE, said)
        return zip(self._out, values, strict=True)


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Bit by bit: NaN is NaN."""
    import torch

    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    first, second = (t.contiguous().reshape(-1).view(torch.uint8) for t in (one, other))
    return bool(torch.equal(first, second.to(first.device)))


def tensors_of(values: Any) -> list[torch.Tensor]:
    return [value for value in values if _is_plain(value)]


def _values(result: Any) -> list[Any]:
    """Read as tuples and lists are, whatever a class of the solution's makes of that."""
    if isinstance(result, tuple):
        _require_honest(type(result), tuple)
        return [*tuple.__iter__(result)]
    if isinstance(result, list):
        _require_honest(type(result), list)
        return [*list.__iter__(result)]
    return [result]


def _require_honest(kind: type, plain: type) -> None:
    """Names of fields are all that it may add."""
    if any(getattr(kind, name) is not getattr(plain, name) for name in _READING):
        note = f"it returned a {kind.__name__}: a {plain.__name__} that may lie about what it holds"
        raise Misfit(HACK, note)


def _plain(name: str, value: Any) -> torch.Tensor:
    """The tensor alone, with nothing that was hung on it."""
    import torch

    if isinstance(value, bool | int | float) and type(value) in (bool, int, float):
        return torch.as_tensor(value)
    kind = type(value).__name__
    if not _is_plain(value):
        if isinstance(value, torch.Tensor):
            raise Misfit(HACK, f"{name} is a {kind}: a tensor that may lie about what it holds")
        raise Misfit(DTYPE, f"{name} is a {kind}, no tensor")
    if hung := [*object.__getattribute__(value, "__dict__")]:
        note = f"{name} carries {hung[0]!r:.60}: a tensor that may lie about what it holds"
        raise Misfit(HACK, note)
    if value.layout is not torch.strided or value.is_meta:
        raise Misfit(DTYPE, f"{name} is {value.layout}, no dense tensor")
    return torch.Tensor.detach(value).resolve_conj().resolve_neg()


def _is_plain(value: Any) -> bool:
    """And nothing that a class of the solution's makes of one."""
    import torch

    return type(value) in (torch.Tensor, torch.nn.Parameter)


def _require_fit(name: str, value: torch.Tensor, place: torch.Tensor, *, shape: bool) -> None:
    if shape and value.shape != place.shape:
        note = f"{name} has shape {[*value.shape]}, the reference {[*place.shape]}"
        raise Misfit(SHAPE, note)
    if not shape and value.dtype != place.dtype:
        raise Misfit(DTYPE, f"{name} is {value.dtype}, its definition says {place.dtype}")
