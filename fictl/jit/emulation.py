"""The emulated device of this process: its runtime is built once and loaded before any module."""

from __future__ import annotations

from functools import cache

from fictl.emu.device import EmulatedDevice
from fictl.jit.build import ensure
from fictl.jit.emulated_runtime import runtime_spec
from fictl.jit.progress import BuildObserver
from fictl.jit.store.entry import Entry
from fictl.jit.store.use import library


def build_runtime(observer: BuildObserver | None = None) -> Entry:
    """Return the runtime's store entry, compiled first if needed."""
    return ensure(runtime_spec(), observer=observer).entry


def emulated_device() -> EmulatedDevice:
    """Return this process's device, configured by the settings and ready to load modules."""
    device = _loaded()
    device.follow_settings()
    return device


@cache
def _loaded() -> EmulatedDevice:
    return EmulatedDevice(library(build_runtime))
