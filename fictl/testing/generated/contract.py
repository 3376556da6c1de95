"""Generated tests of every op: it builds, and its results match its reference.

`fictl test` passes this file to pytest with the op's own tests; the plugin adds parameters.
"""

from __future__ import annotations

import pytest

from fictl.arch import Arch
from fictl.emu.device import MOST_ELEMENTS
from fictl.jit import JitSpec
from fictl.testing.generated.guarded_trial import GuardedTrial
from fictl.testing.generated.suite import OpSuite
from fictl.testing.generated.variant import CaseVariant


@pytest.mark.needs_nvcc
def test_builds(fictl_suite: OpSuite, fictl_spec: JitSpec, fictl_arch: Arch) -> None:
    target = fictl_spec.archs.select(fictl_arch)
    if target is None:
        pytest.skip(f"{fictl_suite.name} is declared for {fictl_spec.archs}, not {fictl_arch}")
    entry = fictl_spec.build(archs=(target,))
    assert target in entry.archs
    assert fictl_suite.exports_of(entry) >= fictl_suite.exported


def test_reference(fictl_suite: OpSuite, fictl_case: CaseVariant, device: str) -> None:
    case = fictl_case.case
    template = fictl_suite.template(case)
    if device == "cpu" and template.elements(case.sizes, case.passing) > MOST_ELEMENTS:
        pytest.skip("too large for the emulated device")
    GuardedTrial(fictl_suite.function(case), template, fictl_case, device).check()
