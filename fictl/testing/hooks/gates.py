"""Which tests cannot run here, and why: by compiler, GPU, architecture and number of processes."""

from __future__ import annotations

import pytest

from fictl import settings
from fictl.testing.hooks import ranks

MARKERS = (
    "needs_gpu: runs on a CUDA device",
    "needs_nvcc: compiles CUDA code",
    "arch(rule): runs on GPUs that the rule admits, as in arch('9.0a') or arch('>=8.0')",
    "gpus(n): runs in n processes at once, each with a GPU of its own",
)


def add_options(group: pytest.OptionGroup) -> None:
    group.addoption(
        "--fictl-require-arch", action="store_true",
        help="a test without its GPU, architecture or nvcc fails; FICTL_CUDA_ARCH_LIST says for "
        "which architectures",
    )  # fmt: skip


def check(item: pytest.Item) -> None:
    """Skip a test that cannot run here, or fail it where it has to."""
    reason = _missing(item)
    if reason and item.config.getoption("--fictl-require-arch") and _is_for_this_machine(item):
        pytest.fail(f"it has to run here (--require-arch), and it {reason}", pytrace=False)
    reason = reason or ranks.missing(item)
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
    rule = _rule(item)
    return _missing_arch(rule) if rule or needs_gpu else ""


def _rule(item: pytest.Item) -> str:
    marker = item.get_closest_marker("arch")
    return marker.args[0] if marker else ""


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


def _is_for_this_machine(item: pytest.Item) -> bool:
    """Where FICTL_CUDA_ARCH_LIST says what it is there for, tests for others are not."""
    from fictl.arch import ArchRule, parse_archs
    from fictl.toolchain import native_targets

    listed, rule = settings.CUDA_ARCH_LIST.get(), _rule(item)
    if not (listed and rule):
        return True
    wanted = parse_archs(listed, native_targets)
    return any(ArchRule.parse(rule).supports(arch) for arch in wanted)
