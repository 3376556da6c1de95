"""TracingConfig: which inputs of a call are stored, and which calls are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fictl.errors import InvalidValue
from fictl.tracing.policies import POLICIES, KeepAll
from fictl.tracing.values import INPUT_POLICIES, InputPolicy


@dataclass(frozen=True)
class TracingConfig:
    """Policies by name, or one's own: a list of inputs or a function, a function that makes one.

    `filter_policy_kwargs` are those of a named policy, as in {"k": 2}.
    """

    input_dump_policy: str | Sequence[str] | InputPolicy = "dump_integers"
    filter_policy: str | Callable[[], KeepAll] = "keep_first_by_axes"
    filter_policy_kwargs: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _require(self.input_dump_policy, INPUT_POLICIES, "input policy")
        _require(self.filter_policy, POLICIES, "filter policy")
        try:
            self.create_filter_policy()
        except TypeError as error:
            raise InvalidValue(
                f"{self.filter_policy} does not take {dict(self.filter_policy_kwargs)}", str(error)
            ) from None

    def create_filter_policy(self) -> KeepAll:
        """Make a policy; each definition and each runtime has its own."""
        if isinstance(self.filter_policy, str):
            return POLICIES[self.filter_policy](**self.filter_policy_kwargs)
        return self.filter_policy()

    def inputs_to_dump(self, inputs: Mapping[str, Any]) -> list[str]:
        policy = self.input_dump_policy
        if isinstance(policy, str):
            return list(INPUT_POLICIES[policy](inputs))
        if callable(policy):
            return [name for name in policy(inputs) if name in inputs]
        return [name for name in policy if name in inputs]


@dataclass(frozen=True)
class TracingConfigRegistry:
    """Configurations by definition; without a default, only these are traced."""

    default: TracingConfig | None = None
    per_definition: Mapping[str, TracingConfig] = field(default_factory=dict)

    def get(self, definition: str) -> TracingConfig | None:
        return self.per_definition.get(definition, self.default)


def _require(value: object, known: Mapping[str, object], what: str) -> None:
    if isinstance(value, str) and value not in known:
        raise InvalidValue(f"there is no {what} {value!r}", f"one of {', '.join(known)}")
