"""`@backend_requirement(...)`: the requirements of a function, as separate decorators.

Names and behaviour are FlashInfer's; `@op(backends=…)` declares the same in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from fictl.arch import ArchRule
from fictl.op.backend.backends import declared_backends
from fictl.op.backend.capability import arch_rule, capability
from fictl.op.backend.choice import Choices
from fictl.op.backend.chosen import offering
from fictl.op.backend.offer import offer_questions
from fictl.op.backend.suitable import Suitable
from fictl.op.wrapper import plain_parameters

F = TypeVar("F", bound=Callable[..., Any])
_ARCHS = "supported_archs"


def supported_compute_capability(archs: object) -> Callable[[F], F]:
    """Declare the architectures of a check's backend: '>=8.0', '9.0a 10.0f', [80, 90]."""
    rule = arch_rule(archs)

    def declare(check: F) -> F:
        setattr(check, _ARCHS, rule)
        check.is_compute_capability_supported = (  # type: ignore[attr-defined]
            lambda cc: rule.supports(capability(cc))
        )
        return check

    return declare


def backend_requirement(
    backend_checks: Mapping[str, Callable[..., Any]] | None = None,
    common_check: Callable[..., Any] | None = None,
    heuristic_func: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., Any]], Any]:
    """Check calls before they run. `backend="auto"` offers suitable_auto_backends to the body.

    A check declares the function's arguments it needs; it returns True, False, or a string saying
    why not, or raises ValueError. `heuristic_func(suitable, …)` puts them in order; without
    one, the order is that of `backend_checks`. `skip_check=True` in a call leaves the checks out.
    """
    from torch.compiler import is_compiling

    def require(function: Callable[..., Any]) -> Any:
        parameters = plain_parameters(function)
        checks = backend_checks or {}
        backends = declared_backends(
            function.__name__,
            [parameter.name for parameter in parameters],
            _archs(common_check),
            {name: _archs(check) for name, check in checks.items()},
            common_check,
            checks,
            heuristic_func,
        )
        suitable = Suitable(function.__name__, is_compiling)
        # Why no template: such a function may have none, and its checks may read every size.
        result: Any = offering(function, Choices(backends, parameters, lambda: None), suitable)
        result.suitable_auto_backends = suitable
        offer_questions(result, backends, parameters)
        return result

    return require


def _archs(check: Callable[..., Any] | None) -> ArchRule | None:
    rule: ArchRule | None = getattr(check, _ARCHS, None)
    return rule
