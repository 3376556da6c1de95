"""Gates for tests that cannot run here: no nvcc, no GPU, another architecture, too few ranks."""

from __future__ import annotations

import pytest

from fictl import settings
from fictl.errors import FictlError
from fictl.testing.hooks import ranks
from fictl.testing.hooks.markers import malformed, rule_of


def check(item: pytest.Item) -> None:
    """Skip a test that cannot run here, or fail it if it must run; a malformed marker fails it."""
    wrong = malformed(item)
    if wrong:
        pytest.fail(wrong, pytrace=False)
    try:
        missing = _missing(item)
        required = bool(missing) and _has_to_run(item)
        reason = missing or ranks.missing(item)
    except FictlError as error:  # A setting, or a file of the project, that cannot be read.
        pytest.fail(str(error), pytrace=False)
    if required:
        pytest.fail(f"it has to run here (--require-arch), and it {missing}", pytrace=False)
    if reason:
        pytest.skip(reason)


def _missing(item: pytest.Item) -> str:
    if item.get_closest_marker("needs_nvcc"):
        from fictl.toolchain import find_nvcc

        if find_nvcc() is None:
            return "needs nvcc: none was found"
    needs_gpu = item.get_closest_marker("needs_gpu")
    if needs_gpu and settings.DEVICE.get() == "emu":
        return "needs a GPU"
    rule = rule_of(item)
    return _missing_arch(rule) if rule or needs_gpu else ""


def _missing_arch(rule: str) -> str:
    from fictl.arch import ArchRule, spell
    from fictl.testing.device import available_archs

    archs = available_archs()
    if not archs:
        return "needs a GPU"
    if rule and not any(ArchRule.parse(rule).supports(arch) for arch in archs):
        which = "the emulated device" if settings.DEVICE.get() == "emu" else "the GPU"
        return f"needs {rule}, {which} is {spell(archs)}"
    return ""


def _has_to_run(item: pytest.Item) -> bool:
    return bool(item.config.getoption("--fictl-require-arch")) and _is_for_this_machine(item)


def _is_for_this_machine(item: pytest.Item) -> bool:
    """True unless FICTL_CUDA_ARCH_LIST is set and the test is for other architectures."""
    from fictl.arch import ArchRule, parse_archs
    from fictl.toolchain import native_targets

    listed, rule = settings.CUDA_ARCH_LIST.get(), rule_of(item)
    if not (listed and rule):
        return True
    wanted = parse_archs(listed, native_targets)
    return any(ArchRule.parse(rule).supports(arch) for arch in wanted)
