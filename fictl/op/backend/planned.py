"""PlannedBackends: the backends of a class with plan and run, chosen by plan().

`@op(backends=…)` chooses for each call, by its tensors. plan() has no tensors of a call, but knows
lengths, head groups, and the state of a CUDA graph's capture. It chooses a backend itself, by
facts that it names, and keeps the answer for run().
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fictl.arch import ArchRule
from fictl.errors import InvalidValue
from fictl.op.backend.backends import AUTO, Need
from fictl.op.backend.check import Check
from fictl.op.backend.explain import BackendRefused, Explanation, Verdict
from fictl.op.backend.placement import Placement, device_placement

if TYPE_CHECKING:
    import torch

_MOST = 4096


class PlannedChoice(NamedTuple):
    """The backend of a plan, and the reason as text."""

    backend: str
    why: str


class PlannedBackends:
    """Backends in order of preference, and the words by which users request them.

    backends: name -> architectures, as in "9.0a"; "" is wherever the op runs.
    facts: names of the facts given to choose(), in this order; checks take the facts they need.
    checks: by backend; a check returns True, False, or a string saying why not.
    names: further words for `backend=`, as in {"fa2": ("sm80",)}: the backends that each stands for,
        best first. Names of backends are words, too.
    why: word -> the reason to give for its first backend, if that runs.
    """

    def __init__(
        self,
        backends: Mapping[str, str],
        *,
        facts: Sequence[str] = (),
        checks: Mapping[str, Callable[..., Any]] | None = None,
        names: Mapping[str, Sequence[str]] | None = None,
        why: Mapping[str, str] | None = None,
    ) -> None:
        checks = checks or {}
        self._facts = tuple(facts)
        self._needs = {
            name: Need(
                ArchRule.parse(archs) if archs else None,
                Check(checks[name], name, facts) if name in checks else None,
            )
            for name, archs in backends.items()
        }
        self._orders = {AUTO: tuple(backends), **{name: (name,) for name in backends}}
        self._orders |= {word: tuple(order) for word, order in (names or {}).items()}
        self._refuse_unknown(checks, "checks")
        self._refuse_unknown([name for order in self._orders.values() for name in order], "names")
        self._why = why or {}
        self._remembered: dict[object, PlannedChoice] = {}
        self.words = (AUTO, *(names or {}))

    def choose(
        self,
        op: str,
        device: torch.device,
        asked: str = AUTO,
        *facts: Any,
        argument: str = "device",
    ) -> PlannedChoice:
        """Choose the backend of a plan; raise an error with all reasons if none runs.

        argument: name of the tensor whose device it is, for the error about another device.
        """
        key = (device, asked, facts)
        choice = self._remembered.get(key)
        if choice is None:
            choice = self._chosen(op, device, asked, facts, argument)
            if len(self._remembered) >= _MOST:
                self._remembered.clear()
            self._remembered[key] = choice
        return choice

    def explain(
        self,
        op: str,
        device: torch.device,
        asked: str = AUTO,
        *facts: Any,
        argument: str = "device",
    ) -> Explanation:
        """Explain the choice, with a verdict for every backend that the word `asked` stands for."""
        order = self._orders.get(asked)
        if order is None:
            known = ", ".join(word for word in self._orders if word != AUTO)
            raise InvalidValue(f"{op}: unknown backend {asked!r}", f"one of {known} or auto")
        named = dict(zip(self._facts, facts, strict=True))
        verdicts = tuple(self._verdict(op, name, device, named, argument) for name in order)
        suitable = tuple(verdict.backend for verdict in verdicts if verdict.accepted)
        why = self._reason(asked, verdicts)
        return Explanation(
            op, str(device), AUTO if len(order) > 1 else asked, why, suitable, verdicts
        )

    def _chosen(
        self, op: str, device: torch.device, asked: str, facts: Sequence[Any], argument: str
    ) -> PlannedChoice:
        explanation = self.explain(op, device, asked, *facts, argument=argument)
        if not explanation.runs:
            raise BackendRefused(explanation)
        return PlannedChoice(explanation.backend, explanation.why)

    def _verdict(
        self, op: str, name: str, device: torch.device, facts: Mapping[str, Any], argument: str
    ) -> Verdict:
        need = self._needs[name]
        reason = ""
        if need.archs:
            place: Placement = device_placement(op, argument, device)
            reason = need.misfit(place)
        return Verdict(name, reason or need.objection(facts))

    def _reason(self, asked: str, verdicts: Sequence[Verdict]) -> str:
        """Return the word's reason, and why the backends before the chosen one were refused."""
        word = self._why.get(asked, f"backend={asked!r}")
        before = []
        for verdict in verdicts:
            if verdict.accepted:
                break
            before.append(verdict.reason)
        return ", ".join([word, *before])

    def _refuse_unknown(self, names: Sequence[str] | Mapping[str, Any], what: str) -> None:
        unknown = sorted(set(names) - set(self._needs))
        if unknown:
            raise InvalidValue(
                f"{what} of {', '.join(unknown)}, which is not a backend",
                f"the backends are {', '.join(self._needs)}",
            )
