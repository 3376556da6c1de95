"""The `device` fixture: the device of a test's tensors and, emulated, the order of threads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from fictl import settings
from fictl.testing.generated.seed import seed_of, session_seed
from fictl.testing.hooks import last_failed

if TYPE_CHECKING:
    from fictl.emu.schedule import Schedule


def configure(config: pytest.Config) -> None:
    """Set one seed for all processes of a run: xdist requires the same tests in each.

    A generated test that is named has its seed in the name, which also gives the same schedule;
    --lf has that of the run that failed.
    """
    option = config.option
    named, last = seed_of(option.fictl_case), last_failed.seed(config)
    if named is not None or last is not None:
        option.fictl_seed = last if named is None else named
    elif option.fictl_seed is None:
        option.fictl_seed = session_seed(getattr(config, "workerinput", {}).get("testrunuid"))


def schedules(config: pytest.Config) -> list[Schedule]:
    """Schedules under which an emulated test with the `device` fixture runs."""
    from fictl.emu.schedule import Schedule

    if settings.EMU_SCHEDULE.origin().kind != "default":
        names = [settings.EMU_SCHEDULE.get()]
    elif settings.EMU_CHECK.get():
        names = ["forward"]  # Check mode does not depend on the order to see a race.
    else:
        names = ["forward", "reverse", "random"]
    seeded = f"random-{config.option.fictl_seed}"
    return [Schedule.parse(seeded if name == "random" else name) for name in names]


@pytest.fixture
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    """Device of a test's tensors: "cuda" or, emulated, under every schedule, "cpu"."""
    if settings.DEVICE.get() == "cuda":
        yield "cuda"
        return
    from fictl.jit.emulation import emulated_device

    emulated = emulated_device()
    before = emulated.schedule
    emulated.run_under(request.param)
    yield "cpu"
    emulated.run_under(before)


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Run a test once for every schedule."""
    if settings.DEVICE.get() == "emu" and takes_device(metafunc.definition):
        metafunc.parametrize("device", schedules(metafunc.config), indirect=True, ids=str)


def takes_device(item: Any) -> bool:
    """True if a test uses the fixture of this file: a project may have a `device` of its own."""
    info = getattr(item, "_fixtureinfo", None)
    fixtures = info.name2fixturedefs.get("device") if info else None
    return fixtures is not None and fixtures[-1].func.__module__ == __name__
