"""The engine of places that a command line reaches: this machine, ssh, srun, kubectl, docker."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING

from fictl.child.local_process import LocalProcess
from fictl.child.lost import not_started
from fictl.paths import SAFE_PATH

if TYPE_CHECKING:
    from fictl.farm.place import Place

WORKER = "fictl.farm.worker"
# Stands for the worker's command line in a word of `launch`, quoted for a shell.
PLACEHOLDER = "{worker}"
# ssh joins its words with spaces, and a shell of the other machine splits them again.
_SPLIT_AGAIN = ("ssh",)


def start(place: Place, variables: Mapping[str, str], words: IO[bytes]) -> LocalProcess:
    try:
        same = place.is_here and not place.python
        return LocalProcess(argv_of(place), {**SAFE_PATH, **variables}, err=words, same=same)
    except FileNotFoundError as error:
        raise not_started("exit code 127", f"there is no {error.filename}") from None
    except PermissionError as error:
        raise not_started("exit code 126", f"{error.filename} is not a program") from None


def argv_of(place: Place) -> tuple[str, ...]:
    """Return the command line that starts the place's worker."""
    worker = (place.python or sys.executable, "-m", WORKER)
    if place.is_here:
        return worker
    inner = ("env", *pairs({**SAFE_PATH, **place.variables}), *worker)
    if any(PLACEHOLDER in word for word in place.launch):
        return tuple(word.replace(PLACEHOLDER, shlex.join(inner)) for word in place.launch)
    if os.path.basename(place.launch[0]) in _SPLIT_AGAIN:
        return (*place.launch, shlex.join(inner))
    return (*place.launch, *inner)


def pairs(variables: Mapping[str, str]) -> list[str]:
    """Return variables as the arguments of `env`."""
    return [f"{name}={value}" for name, value in variables.items()]
