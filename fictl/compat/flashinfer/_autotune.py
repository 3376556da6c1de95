"""`with autotune():` as FlashInfer's users and engines write it."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, contextmanager, nullcontext
from os import PathLike
from pathlib import Path
from typing import Any

from fictl.compat.flashinfer._tuner import get_autotune_process_group
from fictl.errors import InvalidValue

__all__ = ["autotune", "autotune_v2", "autotune_v2_reload"]

_MODES = ("tune", "replay")
# Below `cache_root` of autotune_v2, whose own layout is FlashInfer's.
_FILE = "fictl.json"


def autotune(
    tune_mode: bool = True,
    cache: str | None = None,
    tuning_buckets: tuple[int, ...] | None = None,
    round_up: bool | None = None,
    skip_ops: str | AbstractSet[str] | None = None,
    cuda_graph_profile_replays: int | None = None,
) -> AbstractContextManager[Any]:
    """Tune the calls inside, as fictl.autotune does; `cache` is the file of results.

    With tune_mode=False nothing is measured. Before the first call, FICTL_AUTOTUNER_LOAD_FROM_FILE
    may name a file to read. Ops of `skip_ops` keep their defaults; names of FlashInfer's that fictl
    has no op for change nothing. fictl tunes by kinds of calls, so the other arguments are refused.
    """
    _refuse(
        "autotune",
        tuning_buckets=tuning_buckets,
        round_up=round_up,
        cuda_graph_profile_replays=cuda_graph_profile_replays,
    )
    if tune_mode:
        return _tuned(Path(cache) if cache else None, skip_ops)
    _refuse_to_read("autotune", "cache", cache, "tune_mode=False")
    return nullcontext()


def autotune_v2(
    mode: str = "tune",
    persistent_cache: bool = True,
    cache_root: str | PathLike[str] | None = None,
    measurement_policy: Any = None,
    *,
    tuning_buckets: tuple[int, ...] | None = None,
    round_up: bool | None = None,
    skip_ops: str | AbstractSet[str] | None = None,
) -> AbstractContextManager[Any]:
    """Tune the calls inside, and keep the results in fictl's file of this machine.

    `cache_root` is a folder for the file, persistent_cache=False keeps them for this process alone.
    With mode="replay" nothing is measured. What the file has is read by the next process that
    FICTL_AUTOTUNER_LOAD_FROM_FILE tells to.
    """
    _refuse(
        "autotune_v2",
        measurement_policy=measurement_policy,
        tuning_buckets=tuning_buckets,
        round_up=round_up,
    )
    if mode not in _MODES:
        raise InvalidValue(f"autotune_v2: mode={mode!r}", f"accepted: {', '.join(_MODES)}")
    if mode == "replay":
        _refuse_to_read("autotune_v2", "cache_root", cache_root, 'mode="replay"')
        return nullcontext()
    file = Path(cache_root) / _FILE if cache_root is not None else None
    return _tuned(file if persistent_cache else None, skip_ops, persistent_cache)


def autotune_v2_reload() -> None:
    """Read files of results again: those of FICTL_AUTOTUNER_LOAD_FROM_FILE."""
    from fictl.op.tactics import recorded

    recorded.forget()


@contextmanager
def _tuned(
    file: Path | None, skip: str | AbstractSet[str] | None, saved: bool = False
) -> Iterator[None]:
    """Tune for the ranks that were set; without any, this process chooses by itself."""
    from fictl.op.tactics.tuning import tuning
    from fictl.tune.ranks import TuningRanks
    from fictl.tune.tuner import Tuner

    group = get_autotune_process_group()
    ranks = None if group is None else TuningRanks.of(group)
    tuner = Tuner(ranks, skip={skip} if isinstance(skip, str) else skip or ())
    try:
        with tuning(tuner):
            yield
    finally:
        # Save after an error as well: the results before it are valid.
        if file is not None or saved:
            tuner.save(file)


def _refuse(function: str, **values: object) -> None:
    for name, value in values.items():
        if value is not None:
            raise InvalidValue(
                f"{function}: {name}={value!r} is not supported here", "leave it out"
            )


def _refuse_to_read(function: str, name: str, value: object, mode: str) -> None:
    if value is not None:
        raise InvalidValue(
            f"{function}: {name}={str(value)!r} is not read with {mode}",
            f"set FICTL_AUTOTUNER_LOAD_FROM_FILE={value} before the process starts",
        )
