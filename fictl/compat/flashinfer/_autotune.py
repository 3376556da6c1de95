"""`with autotune():` as FlashInfer's users write it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from fictl.errors import InvalidValue

__all__ = ["autotune"]


def autotune(
    tune_mode: bool = True,
    cache: str | None = None,
    tuning_buckets: tuple[int, ...] | None = None,
    round_up: bool | None = None,
    skip_ops: str | set[str] | None = None,
    cuda_graph_profile_replays: int | None = None,
) -> AbstractContextManager[Any]:
    """Tune the calls inside, as fictl.autotune does; `cache` is the file of results.

    With tune_mode=False nothing is measured. Before the first call, FICTL_AUTOTUNER_LOAD_FROM_FILE
    may name a file to read. fictl tunes by kinds of calls, so the other arguments are refused.
    """
    refused = {
        "tuning_buckets": tuning_buckets,
        "round_up": round_up,
        "skip_ops": skip_ops,
        "cuda_graph_profile_replays": cuda_graph_profile_replays,
    }
    for name, value in refused.items():
        if value is not None:
            raise InvalidValue(f"autotune: {name}={value!r} is not supported here", "leave it out")
    if tune_mode:
        from fictl.tune import autotune as tuned

        return tuned(save=cache or False)
    if cache is not None:
        raise InvalidValue(
            f"autotune: cache={cache!r} is not read with tune_mode=False",
            f"set FICTL_AUTOTUNER_LOAD_FROM_FILE={cache} before the process starts",
        )
    return nullcontext()
