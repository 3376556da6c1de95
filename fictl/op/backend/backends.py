"""Backends: the kernels that one op can run, their requirements, and the choice for a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fictl.arch import ArchRule
from fictl.errors import InvalidValue, UsageError
from fictl.op.backend.capability import capability
from fictl.op.backend.check import Check
from fictl.op.backend.explain import BackendRefused, Explanation, Verdict
from fictl.op.backend.placement import Placement, misfit, placement
from fictl.op.declared_settings import backend_variable, forced_backend
from fictl.op.ffi.dynamo import constant_to_dynamo

AUTO = "auto"


@dataclass(frozen=True)
class Need:
    """Requirements of one backend, or of all backends of an op: architectures and a check."""

    archs: ArchRule | None = None
    check: Check | None = None

    def supports(self, cc: object) -> bool:
        gpu = capability(cc)
        return self.archs is None or self.archs.supports(gpu)

    def misfit(self, place: Placement) -> str:
        """Say why it cannot run there; '' if it can."""
        return misfit(self.archs.text, place.name, place.arch) if self.archs else ""

    def objection(self, arguments: Mapping[str, Any]) -> str:
        return self.check.reason(arguments) if self.check else ""


@dataclass(frozen=True)
class Backends:
    """Backends of one op, in order of preference unless a heuristic says otherwise."""

    op: str
    parameters: tuple[str, ...]
    common: Need
    needs: Mapping[str, Need]
    heuristic: Check | None = None
    settings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.needs and "backend" not in self.parameters:
            raise UsageError(f"{self.op} has backends, but no parameter 'backend'", "add it")
        if AUTO in self.needs:
            raise InvalidValue(f"{self.op}: {AUTO!r} cannot name a backend")

    @property
    def seen(self) -> frozenset[str]:
        """Parameters that a choice may depend on: all that checks and the heuristic name."""
        checks = [need.check for need in (self.common, *self.needs.values())] + [self.heuristic]
        named = {name for check in checks if check for name in check.names}
        return frozenset({"backend"} & set(self.parameters) | named)

    def has_backend(self, name: str) -> bool:
        return name in self.needs

    def has_backend_choices(self) -> bool:
        return bool(self.needs)

    def is_backend_supported(self, name: str, cc: object = None) -> bool:
        """Return whether the backend exists and, if `cc` is given, runs on it.

        Raises for an op without backends, as in FlashInfer: False would mean "use another".
        """
        if not self.needs:
            raise InvalidValue(
                f"is_backend_supported({name!r}): {self.op} has no choice of backends",
                f"has_backend_choices() tells; ask {self.op}.is_compute_capability_supported(cc)",
            )
        if name not in self.needs:
            return False
        return cc is None or (self.common.supports(cc) and self.needs[name].supports(cc))

    def is_compute_capability_supported(self, cc: object) -> bool:
        """Tell whether at least one backend runs on `cc`: 90, '9.0a' or an Arch."""
        if self.needs:
            return any(self.is_backend_supported(name, cc) for name in self.needs)
        if self.common.archs is None:
            raise InvalidValue(
                f"is_compute_capability_supported({cc!r}): {self.op} declares no architectures",
                "put @supported_compute_capability(...) on its common_check",
            )
        return self.common.supports(cc)

    def choose(self, arguments: Mapping[str, Any], checked: bool = True) -> tuple[str, ...]:
        """Choose the backends that run this call, best first; raise all reasons if none do."""
        explanation = self.examine(arguments, only_asked=True, checked=checked)
        if not explanation.runs:
            raise BackendRefused(explanation)
        return explanation.suitable

    def explain(self, arguments: Mapping[str, Any]) -> Explanation:
        """Explain the choice, with a verdict for every backend; errors are part of it, not raised."""
        try:
            return self.examine(arguments)
        except InvalidValue as error:
            return Explanation(self.op, refusal=error.message, hint=error.hint)

    def examine(
        self, arguments: Mapping[str, Any], only_asked: bool = False, checked: bool = True
    ) -> Explanation:
        asked, why = self._asked(arguments)
        place = placement(self.op, arguments)
        seen = f"{place.name} ({place.arch})"
        refusal = self.common.misfit(place)
        if not refusal and checked:
            refusal = self.common.objection(arguments)
        if refusal or not self.needs:
            return Explanation(self.op, seen, suitable=() if refusal else ("",), refusal=refusal)
        names = [asked] if only_asked and asked != AUTO else list(self.needs)
        verdicts = tuple(self._verdict(name, place, arguments, checked) for name in names)
        accepted = [verdict.backend for verdict in verdicts if not verdict.reason]
        suitable = self._ordered(accepted, arguments) if asked == AUTO else accepted
        suitable = [name for name in suitable if asked in (AUTO, name)]
        return Explanation(self.op, seen, asked, why, tuple(suitable), verdicts)

    def _asked(self, arguments: Mapping[str, Any]) -> tuple[str, str]:
        """Return the requested backend, or 'auto', and the source of the request."""
        asked = arguments["backend"] if self.needs else AUTO
        if asked == AUTO:
            forced = _forced(self.op, self.settings, *self.needs)
            if forced:
                return forced, f"forced by {backend_variable(self.op)}"
            by = self.heuristic.name if self.heuristic else ""
            return asked, f"preferred by {by}" if by else "the first of those that can"
        if asked not in self.needs:
            raise InvalidValue(
                f"{self.op}: unknown backend {asked!r}", f"one of {', '.join(self.needs)} or auto"
            )
        return asked, "asked for by the call"

    def _verdict(
        self, name: str, place: Placement, arguments: Mapping[str, Any], checked: bool
    ) -> Verdict:
        need = self.needs[name]
        reason = need.misfit(place)
        if not reason and checked:
            reason = need.objection(arguments)
        return Verdict(name, reason)

    def _ordered(self, accepted: list[str], arguments: Mapping[str, Any]) -> list[str]:
        if self.heuristic is None or not accepted:
            return accepted
        preferred = self.heuristic.function(accepted, **self.heuristic.given(arguments))
        listed = [preferred] if isinstance(preferred, str) else list(preferred)
        kept = [name for name in listed if name in accepted]
        if not kept:
            raise UsageError(
                f"{self.op}: {self.heuristic.name} prefers {listed} of {accepted}",
                "a heuristic returns at least one of those that it is given",
            )
        return kept


def declared_backends(
    op: str,
    parameters: Sequence[str],
    archs: ArchRule | None,
    backends: Mapping[str, ArchRule | None],
    check: Callable[..., Any] | None,
    checks: Mapping[str, Callable[..., Any]],
    heuristic: Callable[..., Any] | None,
    settings: Sequence[str] = (),
) -> Backends:
    """Make Backends from an author's declaration; each check needs a backend of its name."""
    unknown = sorted(set(checks) - set(backends))
    if unknown:
        raise InvalidValue(
            f"{op}: checks of {', '.join(unknown)}, which is not a backend",
            f"its backends are {', '.join(backends) or 'none'}",
        )
    by_backend = {name: Check(check, op, parameters) for name, check in checks.items()}
    return Backends(
        op,
        tuple(parameters),
        Need(archs, Check(check, op, parameters) if check else None),
        {name: Need(rule, by_backend.get(name)) for name, rule in backends.items()},
        Check(heuristic, op, parameters, skip=1) if heuristic else None,
        tuple(settings),
    )


@constant_to_dynamo
def _forced(op: str, settings: tuple[str, ...], *backends: str) -> str:
    return forced_backend(op, settings, backends)
