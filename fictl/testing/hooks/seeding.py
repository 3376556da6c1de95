"""Seeds of random numbers that tests draw, so that the command that repeats a failure repeats it."""

from __future__ import annotations

import random
import sys
import zlib
from collections.abc import Callable, Generator
from typing import Any

import pytest


class Seeding:
    """Pytest plugin: a test, and each fixture, begins with random numbers that the seed decides.

    Otherwise they would depend on the tests that ran before.
    """

    def __init__(self, seed: int, is_ours: Callable[[Any], bool]) -> None:
        self._seed = seed
        self._is_ours = is_ours

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_fixture_setup(
        self, fixturedef: Any, request: pytest.FixtureRequest
    ) -> Generator[None, Any, None]:
        if self._is_ours(request.node):
            # Why the name: two fixtures that draw a tensor each must not draw the same.
            seed_all(self._seed ^ zlib.crc32(fixturedef.argname.encode()) >> 1)
        yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> None:
        if self._is_ours(pyfuncitem):
            seed_all(self._seed)


def seed_all(seed: int) -> None:
    """Seed the generators of Python and, where they are imported, of NumPy and torch."""
    random.seed(seed)
    numpy: Any = sys.modules.get("numpy")
    torch: Any = sys.modules.get("torch")
    # Why getattr: another thread may be importing them.
    if hasattr(numpy, "random"):
        numpy.random.seed(seed)
    if hasattr(torch, "manual_seed"):
        _seed_torch(torch, seed)


def _seed_torch(torch: Any, seed: int) -> None:
    """Seed the generators of the host and, where torch has CUDA, of its GPUs.

    Why not torch.manual_seed(): for each kind of device that is not there it formats a traceback,
    which before each test and each of its fixtures takes longer than most tests.
    """
    torch.default_generator.manual_seed(seed)
    if torch.backends.cuda.is_built():
        torch.cuda.manual_seed_all(seed)
