"""The solution's side of one turn: calls it on shared memory and copies its results there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from fictl.judge.exchange.layout import ExchangeLayout
from fictl.judge.exchange.memory import SharedMemory
from fictl.judge.modes import RETURNS
from fictl.trace import Definition

if TYPE_CHECKING:
    import torch

    from fictl.runnable import Runnable

# Page size of a GPU, in bytes.
_PAGE = 2 << 20
# Bits are compared by words where tensors allow it: bytes take several times as long.
_WORD = 8

_READING = ("__iter__", "__getitem__", "__len__", "__getattribute__")

SHAPE, DTYPE, HACK = "INCORRECT_SHAPE", "INCORRECT_DTYPE", "REWARD_HACK"
WRONG = "INCORRECT_NUMERICAL"


class Misfit(Exception):
    """A result does not fit the definition; `status` is the resulting status."""

    def __init__(self, status: str, note: str) -> None:
        super().__init__(note)
        self.status, self.note = status, note


class Turn:
    """A call with new tensor objects, over memory that no earlier call has seen.

    It has slots only, and takes results by position, so that a solution cannot attach anything to
    it.
    """

    __slots__ = ("_definition", "_given", "_inputs", "_left", "_lent", "_out", "_result")

    def __init__(
        self,
        definition: Definition,
        layout: ExchangeLayout,
        numbers: dict[str, Any],
        memory: SharedMemory,
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
        """Do nothing instead of a call, or return tensors of the right sizes, kept in `blank`."""
        self._given = [*self._out.values()]
        if style == RETURNS:
            for name, place in self._out.items():
                if name not in blank or blank[name].shape != place.shape:
                    blank[name] = place.clone()
            self._given, self._result = None, [*blank.values()]

    def deliver(self) -> None:
        """Copy returned tensors to the memory that the referee reads; the turn's time
        includes it.
        """
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
        """Addresses of the outputs that the call allocated."""
        if self._given is not None:
            return {}
        return {
            name: value.untyped_storage().data_ptr()
            for name, value in self._results()
            if value.numel() and name not in self._definition.inputs
        }

    def aliased(self) -> tuple[str, str]:
        """An output, and the input or output place that it shares memory with; two '' if none."""
        names = [*zip(self._definition.inputs, self._inputs, strict=True), *self._out.items()]
        lent = {
            value.untyped_storage().data_ptr(): name
            for name, value in names
            if hasattr(value, "untyped_storage") and value.numel()
        }
        shared = ((name, lent.get(place, "")) for name, place in self.places().items())
        return next(((output, other) for output, other in shared if other), ("", ""))

    def touch(self) -> None:
        """Read every page of the shared memory in one kernel."""
        self._lent[::_PAGE].sum()

    def keep(self) -> None:
        """Copy the outputs in stream order: work left on other streams may finish later."""
        self._left = [value.clone() for value in self._given or ()]

    def changed_since(self) -> str:
        """Name of an output that changed after it was delivered; '' if none did."""
        kept = zip(self._out, self._left, strict=False) if self._given else self._results()
        return next((n for n, value in kept if not same(value, self._out[n])), "")

    def _results(self) -> Iterator[tuple[str, torch.Tensor]]:
        return zip(self._out, self._result or (), strict=False)

    def _named(self, result: Any) -> Iterator[tuple[str, Any]]:
        values = _values(result)
        if len(values) != len(self._out) or (len(values) == 1 and values[0] is None):
            count = 0 if result is None else len(values)
            note = f"it returned {count} values, its outputs are {', '.join(self._out)}"
            raise Misfit(SHAPE, note)
        return zip(self._out, values, strict=True)


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Compare bits, so that NaN equals NaN."""
    import torch

    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    first, second = (t.contiguous().reshape(-1).view(torch.uint8) for t in (one, other))
    second = second.to(first.device)
    if all(not (t.numel() % _WORD or t.storage_offset() % _WORD) for t in (first, second)):
        first, second = first.view(torch.int64), second.view(torch.int64)
    return bool(torch.equal(first, second))


def _values(result: Any) -> list[Any]:
    """Read the items of a tuple or a list without calling methods that a solution overrode."""
    if isinstance(result, tuple):
        _require_honest(type(result), tuple)
        return [*tuple.__iter__(result)]
    if isinstance(result, list):
        _require_honest(type(result), list)
        return [*list.__iter__(result)]
    return [result]


def _require_honest(kind: type, plain: type) -> None:
    """Refuse a subclass that overrides how its items are read."""
    if any(getattr(kind, name) is not getattr(plain, name) for name in _READING):
        note = f"it returned a {kind.__name__}: a {plain.__name__} that may lie about what it holds"
        raise Misfit(HACK, note)


def _plain(name: str, value: Any) -> torch.Tensor:
    """Return the tensor without subclass or attached attributes; raise Misfit if it has them."""
    import torch

    if isinstance(value, bool | int | float) and type(value) in (bool, int, float):
        return torch.as_tensor(value)
    kind = type(value).__name__
    if not _is_plain(value):
        if isinstance(value, torch.Tensor):
            raise Misfit(HACK, f"{name} is a {kind}: a tensor that may lie about what it holds")
        raise Misfit(DTYPE, f"{name} is a {kind}, not a tensor")
    if hung := [*object.__getattribute__(value, "__dict__")]:
        note = f"{name} carries {hung[0]!r:.60}: a tensor that may lie about what it holds"
        raise Misfit(HACK, note)
    if value.layout is not torch.strided or value.is_meta:
        raise Misfit(DTYPE, f"{name} is {value.layout}, not a dense tensor")
    return torch.Tensor.detach(value).resolve_conj().resolve_neg()


def _is_plain(value: Any) -> bool:
    """Tell whether `value` is a plain tensor, and not of a solution's subclass."""
    import torch

    return type(value) in (torch.Tensor, torch.nn.Parameter)


def _require_fit(name: str, value: torch.Tensor, place: torch.Tensor, *, shape: bool) -> None:
    if shape and value.shape != place.shape:
        note = f"{name} has shape {[*value.shape]}, the reference {[*place.shape]}"
        raise Misfit(SHAPE, note)
    if not shape and value.dtype != place.dtype:
        raise Misfit(DTYPE, f"{name} is {value.dtype}, its definition says {place.dtype}")
