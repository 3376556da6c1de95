"""`with fictl.autotune():` times the tactics of untuned calls inside it, once for each key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fictl.op.tactics.tuning import tuning
from fictl.tune.ranks import TuningRanks
from fictl.tune.tuner import Tuner


@contextmanager
def autotune(
    *, save: bool | str | Path = False, again: bool = False, group: Any = None
) -> Iterator[Tuner]:
    """Tune this thread's calls inside the block; each key is timed only once.

    save: add the results to this file; True: to the file that FICTL_AUTOTUNER_LOAD_FROM_FILE=1
        loads.
    again: also measure keys that are already tuned.
    group: the process group whose ranks choose the same tactics; None is the default group, if it
        exists. All its ranks must make the same calls.
    """
    tuner = Tuner(TuningRanks.of(group), again)
    try:
        with tuning(tuner):
            yield tuner
    finally:
        # Save after an error as well: the results before it are valid.
        if save:
            tuner.save(None if save is True else Path(save))
