"""The tests that every op has without writing them: it builds, and it computes its reference.

`fictl test` hands this file to pytest beside the op's own; the plugin supplies the parameters.
"""

from __future__ import annotations

from typing import Any

import pytest

from fictl.arch import Arch
from fictl.jit import JitSpec
from fictl.op.bound import bind
from fictl.testing.compare import assert_close
from fictl.testing.inputs import make_inputs
from fictl.testing.suite import OpSuite
from fictl.trace import Case

# A core emulates some 10 to 100 million elements a second.
_EMULATED_ELEMENTS = 1 << 18


@pytest.mark.needs_nvcc
def test_builds(fictl_suite: OpSuite, fictl_spec: JitSpec, fictl_arch: Arch) -> None:
    target = fictl_spec.archs.select(fictl_arch)
    if target is None:
        pytest.skip(f"{fictl_suite.name} is declared for {fictl_spec.archs}, not {fictl_arch}")
    entry = fictl_spec.build(archs=(target,))
    assert target in entry.archs
    assert fictl_suite.exports_of(entry) >= fictl_suite.exported


def test_reference(fictl_suite: OpSuite, fictl_case: Case, device: str) -> None:
    template, function = fictl_suite.template(fictl_case), fictl_suite.function(fictl_case)
    sizes, passing = fictl_case.sizes, fictl_case.passing
    if device == "cpu" and template.elements(sizes, passing) > _EMULATED_ELEMENTS:
        pytest.skip("too large for the emulated device")
    inputs = make_inputs(template, sizes, fictl_case.dtype, device, passing=passing)
    expected = template.reference(**_doubles(inputs))
    plan, run = bind(function, inputs)
    plan()
    actual = run()
    outputs = zip(template.outputs, _several(actual), _several(expected), strict=True)
    for name, got, want in outputs:
        assert_close(got, want, name, template.tolerances)


def _several(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _doubles(inputs: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.double() if getattr(value, "is_floating_point", bool)() else value
        for name, value in inputs.items()
    }
