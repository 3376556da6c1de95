"""Tactics of one function: its candidates, and the one for each kind of call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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


class Tactics:
    """`untuned` is what every call gets, or None: then `remembered` has it by its key.

    `make` answers what neither has.
    """

    def __init__(
        self,
        op: Op,
        function: Callable[..., Any],
        parameters: Sequence[Parameter],
        candidates: Callable[..., Any],
    ) -> None:
        """`parameters` are all of the function, `self` too: a tactic is tried on its object."""
        named = {each.name for each in parameters}
        if PARAMETER not in named:
            raise UsageError(f"{op.name} has tactics, but no parameter {PARAMETER!r}", "add it")
        self.op = op
        self.function = function
        self.untuned: Any = None
        self.remembered: dict[Any, Any] = {}
        self._parameters = [each for each in parameters if each.name != PARAMETER]
        self.names = tuple(each.name for each in self._parameters)
        self.defaults = {
            each.name: None if each.default is each.empty else each.default
            for each in self._parameters
        }
        self._candidates = Check(candidates, op.name, self.names)
        self._tuned: dict[Any, int] = {}
        self.keys = Keys(op, self._parameters, self._candidates.names)
        tuning.declare(self)

    def make(self, *values: Any) -> Any:
        """The tactic of this call: tuned now, or before, or the default."""
        arguments = dict(zip(self.names, values, strict=True))
        call = self.untuned_call(arguments)
        tuner = tuning.tuner()
        if tuner and call and len(call.candidates) > 1:
            return tuner(call)
        found = self.known(call) if call else None
        tactic = self.candidates(arguments)[0] if found is None else found
        self._remember(call, tactic, is_default=found is None)
        return tactic

    def while_traced(self, *values: Any) -> Any:
        """Nothing is measured: what is known, or the default, becomes part of the trace."""
        arguments = dict(zip(self.names, values, strict=True))
        self.keys.compile()
        candidates = tuple(self._candidates.function(**self._candidates.given(arguments)))
        labels = tuple([label(spelled(each)) for each in candidates])
        device = self.device_of(arguments)
        return candidates[self._index(self.keys.traced(*values), labels, device)]

    def candidates(self, arguments: Mapping[str, Any]) -> tuple[Any, ...]:
        """Of a call, the default first."""
        found = tuple(self._candidates.function(**self._candidates.given(arguments)))
        labels = [label(spelled(each)) for each in found]
        if not found or len(set(labels)) < len(labels):
            raise UsageError(
                f"{self.op.name}: {self._candidates.name} gives {', '.join(labels) or 'nothing'}",
                "it gives one tactic at least, and none twice; the first is the default",
            )
        return found

    def known(self, call: tuning.Untuned) -> Any:
        """What was tuned for it, in this process or before; None where nothing was."""
        if call.key in self._tuned:
            return call.candidates[self._tuned[call.key]]
        labels = tuple(label(spelled(each)) for each in call.candidates)
        found = self._recorded_index(call.text, labels, self.device_of(call.arguments))
        return None if found is None else call.candidates[found]

    def keep(self, call: tuning.Untuned, tactic: Any) -> None:
        """From now on calls of this key get it."""
        self._tuned[call.key] = call.candidates.index(tactic)
        self.remembered[call.key] = tactic

    def forget(self) -> None:
        """What calls got untuned; what was tuned stays."""
        self.untuned = None
        self.remembered.clear()

    def run(self, arguments: Mapping[str, Any], tactic: Any) -> Any:
        """The function itself, by the tactic."""
        bare = [each.name for each in self._parameters if each.kind is each.POSITIONAL_ONLY]
        rest = {name: value for name, value in arguments.items() if name not in bare}
        return self.function(*(arguments[name] for name in bare), **rest, **{PARAMETER: tactic})

    def device_of(self, arguments: Mapping[str, Any]) -> int:
        from torch import Tensor

        tensors = (each for each in arguments.values() if isinstance(each, Tensor))
        return next((each.get_device() for each in tensors), 0)

    def untuned_call(self, arguments: dict[str, Any]) -> tuning.Untuned | None:
        """None where a call has no key: its tactic is chosen anew each time."""
        try:
            key = self.keys.of(*arguments.values())
            hash(key)
        except self.keys.none:
            return None
        seen = [arguments[name] for name in self._candidates.names]
        if not all(is_value(each) for each in seen if not _is_tensor(each)):
            return None
        return tuning.Untuned(self, key, self.keys.text(key), arguments, self.candidates(arguments))

    def _remember(self, call: tuning.Untuned | None, tactic: Any, is_default: bool) -> None:
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
        """None where the file in use has nothing, or a tactic that the op no longer has."""
        if settings.AUTOTUNER_LOAD_FROM_FILE.get() is None:
            return None
        from fictl.op.tactics import recorded

        entry = recorded.entry(self.op, text, device)
        winner = label(entry.winner) if entry else ""
        return labels.index(winner) if winner in labels else None


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "shape")
