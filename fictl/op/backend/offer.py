"""Questions that a public function answers: where and how its calls would run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import Any

from fictl.op.backend.backends import Backends
from fictl.op.backend.explain import Explanation


def offer_questions(
    function: Callable[..., Any], backends: Backends, parameters: Sequence[Parameter]
) -> None:
    """Set the questions as attributes of `function`."""
    signature = Signature(parameters)

    def explain(*args: Any, **kwargs: Any) -> Explanation:
        """Explain which backend this call would get, and why not the others."""
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return backends.explain(bound.arguments)

    answers: dict[str, Any] = {
        "explain": explain,
        "is_compute_capability_supported": backends.is_compute_capability_supported,
        "is_backend_supported": backends.is_backend_supported,
        "has_backend": backends.has_backend,
        "has_backend_choices": backends.has_backend_choices,
    }
    for name, answer in answers.items():
        setattr(function, name, answer)
