"""`with fictl.autotune():` a call of a kind that nobody has tuned times its tactics, and keeps the best."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fictl.op.tactics.tuning import tuning
from fictl.tune.ranks import Ranks
from fictl.tune.tuner import Tuner


@contextmanager
def autotune(
    *, save: bool | str | Path = False, again: bool = False, group: Any = None
) -> Iterator[Tuner]:
    """Calls of this thread inside it are tuned: a second call of a kind costs what any call does.

    save: add what was measured to a file, True: to that which FICTL_AUTOTUNER_LOAD_FROM_FILE=1
        loads.
    again: measure what was tuned before, too.
    group: the process group whose ranks get the same tactics; None is the default one, if there
        is one. They all make the same calls inside.
    """
    tuner = Tuner(Ranks.of(group), again)
    try:
        with tuning(tuner):
            yield tuner
    finally:
        # Whatever ended the calls: what was measured before is right.
        if save:
            tuner.save(None if save is True else Path(save))
