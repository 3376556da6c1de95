"""FlashInfer's tuner, its file and its ranks, as engines' warm-up uses them around autotune.

fictl keeps tactics itself: `save_configs` writes a file that describes this machine and holds no
tactic, and `load_configs` checks one. FICTL_AUTOTUNER_LOAD_FROM_FILE names what is read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fictl.compat.flashinfer._names import VERSION
from fictl.paths import write_atomic

__all__ = [
    "AutoTuner",
    "_classify_metadata_mismatches",
    "_collect_metadata",
    "get_autotune_process_group",
    "set_autotune_process_group",
]

_METADATA = "_metadata"
_UNKNOWN = "unknown"
_ANY = "*"


def set_autotune_process_group(group: Any) -> None:
    """Let the ranks of a torch.distributed group choose the same tactics; None: each its own."""
    AutoTuner.group = group


def get_autotune_process_group() -> Any:
    """Return the group that was set."""
    return AutoTuner.group


class AutoTuner:
    """The one tuner of the process, as engines' warm-up sees it."""

    group: Any = None
    _one: AutoTuner | None = None
    # Nothing of it waits to be written: engines write its file only when something does.
    _dirty = False

    @classmethod
    def get(cls) -> AutoTuner:
        if cls._one is None:
            cls._one = cls()
        return cls._one

    def save_configs(self, path: str) -> None:
        """Write a file that load_configs accepts where this environment is."""
        write_atomic(Path(path), json.dumps({_METADATA: _collect_metadata()}, indent=2) + "\n")

    def load_configs(self, path: str) -> bool:
        """Tell whether a file is of this environment."""
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        saved = document.get(_METADATA) if isinstance(document, dict) else None
        if saved is None:
            return False
        hard, soft = _classify_metadata_mismatches(saved, _collect_metadata())
        return not hard and not soft

    def clear_cache(self) -> None:
        """Forget what this process tuned, so that the next autotune measures again."""
        from fictl.op.tactics import tuning

        tuning.clear()


def _collect_metadata() -> dict[str, str]:
    """Describe what makes one environment's tactics useless in another."""
    import torch

    from fictl.version import VERSION as FICTL

    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else _UNKNOWN
    return {
        "flashinfer_version": VERSION,
        "fictl_version": FICTL,
        "cuda_version": torch.version.cuda or _UNKNOWN,
        "gpu": gpu,
    }


def _classify_metadata_mismatches(
    saved_meta: object, current_meta: Mapping[str, str]
) -> tuple[dict[str, tuple[Any, str]], dict[str, tuple[Any, str]]]:
    """Split what differs into what contradicts and what the file does not say, as (saved, here)."""
    saved = saved_meta if isinstance(saved_meta, Mapping) else {}
    hard: dict[str, tuple[Any, str]] = {}
    soft: dict[str, tuple[Any, str]] = {}
    for key, here in current_meta.items():
        written = saved.get(key)
        if written not in (here, _ANY):
            (soft if written in (None, _UNKNOWN) else hard)[key] = (written, here)
    return hard, soft
