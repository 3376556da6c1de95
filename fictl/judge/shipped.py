"""Builds of what fictl itself ships: in the user's cache, from which every solution reads them."""

from __future__ import annotations

from fictl.errors import FictlError
from fictl.log import logger


def build_shipped(device: str) -> None:
    """Build the emulated device's runtime, if it is not there; a solution without it says why."""
    if device != "emu":
        return
    from fictl.jit.emulation import build_runtime

    try:
        build_runtime()
    except FictlError as error:
        logger().debug("the emulated device's runtime is not built: %s", error.message)
