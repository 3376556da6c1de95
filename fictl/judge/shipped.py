"""Builds of what fictl itself ships: in the user's cache, from which every solution reads them."""

from __future__ import annotations

from functools import cache

from fictl.errors import FictlError
from fictl.log import logger


@cache
def build_shipped(device: str) -> None:
    """Build the emulated device's runtime, once; a solution that cannot have it says why."""
    if device != "emu":
        return
    from fictl.jit.emulation import build_runtime

    try:
        build_runtime()
    except FictlError as error:
        logger().debug("the emulated device's runtime is not built: %s", error.message)
