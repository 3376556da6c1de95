"""Tactics of one function: its candidates, and the choice for each key."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Any

from fictl import settings
from fictl.errors import UsageError
from fictl.op.backend.call_key import is_value
from fictl.op.backend.check import Check
from fictl.op.declared import Op
from fictl.op.ffi.dynamo import constant_to_dynamo
from fictl.op.tactics import tuning
from fictl.op.tactics.keys import Keys
from fictl.op.tactics.spelling import label, spelled

PARAMETER = "tactic"
_MOST = 4096


@dataclass(frozen=True)
class Untuned:
    """A call to tune: `key` in memory, `text` in a file, candidates with the default first."""

    tactics: Tactics
    key: Any
    text: str
    arguments: dict[str, Any]
    candidates: tuple[Any, ...]


class Tactics:
    """Tactics of one function.

    `untuned` is the tactic of every call, or None: then look in `remembered` by key. `make` finds
    a tactic that neither has.
    """

    def __init__(
        self,
        op: Op,
        function: Callable[..., Any],
        parameters: Sequence[Parameter],
        candidates: Callable[..., Any],
    ) -> None:
        """Take all `parameters` of the function, `self` too, since tuning calls methods."""
        named = {parameter.name for parameter in parameters}
        if PARAMETER not in named:
            raise UsageError(f"{op.name} has tactics, but no parameter {PARAMETER!r}", "add it")
        self.op = op
        self.function = function
        self.untuned: Any = None
        self.remembered: dict[Any, Any] = {}
        self._parameters = [parameter for parameter in parameters if parameter.name != PARAMETER]
        self.names = tuple(parameter.name for parameter in self._parameters)
        self.defaults = {
            parameter.name: None if parameter.default is parameter.empty else parameter.default
            for parameter in self._parameters
        }
        self._candidates = Check(candidates, op.name, self.names)
        self._tuned: dict[Any, int] = {}
        self.keys = Keys(op, self._parameters, self._candidates.names)
        tuning.declare(self)

    def make(self, *values: Any) -> Any:
        """Find the tactic of this call: tuned now, tuned before, or the default."""
        arguments = dict(zip(self.names, values, strict=True))
        call = self.untuned_call(arguments)
        tuner = tuning.tuner()
        if tuner and call and len(call.candidates) > 1:
            return tuner(call)
        known = self.known(call) if call else None
        tactic = self.candidates(arguments)[0] if known is None else known
        self._remember(call, tactic, is_default=known is None)
        return tactic

    def while_traced(self, *values: Any) -> Any:
        """Find the tactic without measuring: it becomes part of the trace."""
        arguments = dict(zip(self.names, values, strict=True))
        self.keys.compile()
        candidates = tuple(self._candidates.function(**self._candidates.given(arguments)))
        labels = tuple([label(spelled(tactic)) for tactic in candidates])
        device = self.device_of(arguments)
        return candidates[self._index(self.keys.traced(*values), labels, device)]

    def candidates(self, arguments: Mapping[str, Any]) -> tuple[Any, ...]:
        """List the tactics of a call, the default first."""
        tactics = tuple(self._candidates.function(**self._candidates.given(arguments)))
        labels = [label(spelled(tactic)) for tactic in tactics]
        if not tactics or len(set(labels)) < len(labels):
            raise UsageError(
                f"{self.op.name}: {self._candidates.name} gives {', '.join(labels) or 'nothing'}",
                "it gives one tactic at least, and none twice; the first is the default",
            )
        return tactics

    def known(self, call: Untuned) -> Any:
        """Look up the tactic tuned for it, in this process or before; None if not tuned."""
        if call.key in self._tuned:
            return call.candidates[self._tuned[call.key]]
        labels = tuple(label(spelled(tactic)) for tactic in call.candidates)
        index = self._recorded_index(call.text, labels, self.device_of(call.arguments))
        return None if index is None else call.candidates[index]

    def keep(self, call: Untuned, tactic: Any) -> None:
        """Use the tactic for calls of this key from now on."""
        self._tuned[call.key] = call.candidates.index(tactic)
        self.remembered[call.key] = tactic

    def forget(self) -> None:
        """Forget the choices for untuned calls; keep tuned ones."""
        self.untuned = None
        self.remembered.clear()

    def forget_all(self) -> None:
        """Forget all choices of this process."""
        self._tuned.clear()
        self.forget()

    def run(self, arguments: Mapping[str, Any], tactic: Any) -> Any:
        """Call the function itself with the tactic."""
        bare = [
            parameter.name
            for parameter in self._parameters
            if parameter.kind is parameter.POSITIONAL_ONLY
        ]
        rest = {name: value for name, value in arguments.items() if name not in bare}
        return self.function(*(arguments[name] for name in bare), **rest, **{PARAMETER: tactic})

    def device_of(self, arguments: Mapping[str, Any]) -> int:
        from torch import Tensor

        tensors = (value for value in arguments.values() if isinstance(value, Tensor))
        return next((value.get_device() for value in tensors), 0)

    def untuned_call(self, arguments: dict[str, Any]) -> Untuned | None:
        """Describe an untuned call; None if it has no key: then each call is chosen anew."""
        try:
            key = self.keys.of(*arguments.values())
            hash(key)
        except self.keys.none:
            return None
        seen = [arguments[name] for name in self._candidates.names]
        if not all(is_value(value) for value in seen if not _is_tensor(value)):
            return None
        return Untuned(self, key, self.keys.text(key), arguments, self.candidates(arguments))

    def _remember(self, call: Untuned | None, tactic: Any, is_default: bool) -> None:
        with tuning.lock:
            if call is None or tuning.is_going_on():
                return
            never_tuned = not self._tuned and settings.AUTOTUNER_LOAD_FROM_FILE.get() is None
            if is_default and never_tuned and not self._candidates.names:
                self.untuned = tactic
            if len(self.remembered) >= _MOST:
                self.remembered.clear()
            self.remembered[call.key] = tactic

    @constant_to_dynamo
    def _index(self, key: Any, labels: tuple[str, ...], device: int) -> int:
        if key in self._tuned:
            return self._tuned[key]
        return self._recorded_index(self.keys.text(key), labels, device) or 0

    def _recorded_index(self, text: str, labels: tuple[str, ...], device: int) -> int | None:
        """Look up the file's tactic; None without entry, or if the op no longer has the tactic."""
        if settings.AUTOTUNER_LOAD_FROM_FILE.get() is None:
            return None
        from fictl.op.tactics import recorded

        entry = recorded.entry(self.op, text, device)
        winner = label(entry.winner) if entry else ""
        return labels.index(winner) if winner in labels else None


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "shape")
