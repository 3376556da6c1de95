"""`with fictl.autotune():` calls inside it that are not tuned yet time their tactics, once a key."""

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
    """Tune this thread's calls inside the block; a second call of the same key costs nothing extra.

    save: add the results to this file; True: to the one that FICTL_AUTOTUNER_LOAD_FROM_FILE=1
        loads.
    again: also measure keys that are tuned already.
    group: the process group whose ranks get the same tactics; None is the default group, if there
        is one. All its ranks make the same calls.
    """
    tuner = Tuner(TuningRanks.of(group), again)
    try:
        with tuning(tuner):
            yield tuner
    finally:
        # Also after an error: the results before it are right.
        if save:
            tuner.save(None if save is True else Path(save))
