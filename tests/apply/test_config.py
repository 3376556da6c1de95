"""Configurations: defaults, limits, and one for each definition."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from fictl.apply import ApplyConfig, ApplyConfigRegistry
from fictl.errors import FictlError


def test_by_default_the_judge_decides_and_other_sizes_fall_back() -> None:
    config = ApplyConfig()
    assert (config.max_atol, config.max_rtol) == (None, None)
    assert (config.aot_ratio, config.on_miss_policy) == (1.0, "fallback_only")


@pytest.mark.parametrize(
    "values",
    [
        {"max_atol": -1.0},
        {"max_rtol": 0},
        {"aot_ratio": 1.5},
        {"on_miss_policy": "invalid"},
        {"max_tol": 1.0},
    ],
    ids=str,
)
def test_values_out_of_range_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ApplyConfig(**values)  # type: ignore[arg-type]


def test_a_definition_without_its_own_has_the_default() -> None:
    assert ApplyConfigRegistry().get("unknown") == ApplyConfig()
    assert ApplyConfigRegistry(ApplyConfig(max_atol=1e-3)).get("any").max_atol == 1e-3


def test_definitions_are_registered_one_by_one_or_together() -> None:
    registry = ApplyConfigRegistry().register("a", ApplyConfig(max_atol=1e-3))
    registry.register_many({"b": ApplyConfig(aot_ratio=0.0), "c": ApplyConfig(max_rtol=1.0)})
    assert registry.get("a").max_atol == 1e-3
    assert registry.get("b").aot_ratio == 0.0
    assert registry.get("c").max_rtol == 1.0


def test_a_second_one_has_to_say_that_it_replaces_the_first() -> None:
    registry = ApplyConfigRegistry().register("a", ApplyConfig(max_atol=1e-3))
    with pytest.raises(FictlError, match="already exists"):
        registry.register("a", ApplyConfig(max_atol=2e-3))
    assert (
        registry.register("a", ApplyConfig(max_atol=5e-3), override=True).get("a").max_atol == 5e-3
    )
