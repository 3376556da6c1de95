"""Calls that engines' own code made, played again: small ones emulated, all on a GPU.

Written by `python -m tests.compat.engines.record_calls ENGINE`, which says what it needs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.compat.flashinfer._listing import SERVED, reached_names
from fictl.replay.recording.document import Called, GraphEvent, Recording
from fictl.replay.recording.messages import CallOutcome
from fictl.replay.recording.player import Player

FILES = sorted((Path(__file__).parents[2] / "compat" / "recordings").glob("*.json"))
SMALL = [path for path in FILES if path.stem.endswith("_small")]
# Recordings of which an argument is refused today, in these words: without them all has to match.
REFUSED = {"vllm_nvfp4_kv": "k and v of uint8"}
_FOLLOWS = "went wrong before"
_MOST_BYTES = 300_000


def unserved() -> set[str]:
    """Names that an engine reaches and fictl does not serve yet."""
    return {name.name.rpartition(".")[2] for name in reached_names() if name.status != SERVED}


def assert_right(path: Path, calls: list[CallOutcome]) -> None:
    """Nothing differs, and nothing is refused but what is not served yet."""
    missing = unserved()
    words = REFUSED.get(path.stem)
    if words and any(words in call.detail for call in calls):
        calls = [call for call in calls if not any(w in call.detail for w in (words, _FOLLOWS))]
    wrong = [call for call in calls if call.status not in ("ran", "match")]
    excused = [
        call
        for call in wrong
        if call.status == "refused" and call.name.rpartition(".")[2] in missing
    ]
    assert wrong == excused
    assert excused or any(call.status == "match" for call in calls)


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_on_the_emulated_device(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    assert_right(path, Player(Recording.read(path), "cpu").play())


@pytest.mark.needs_gpu
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_on_a_gpu(path: Path) -> None:
    assert_right(path, Player(Recording.read(path), "cuda").play())


def test_they_are_few_bytes_and_cover_what_engines_do() -> None:
    assert sum(path.stat().st_size for path in FILES) < _MOST_BYTES
    recordings = [Recording.read(path) for path in FILES]
    steps = [step for recording in recordings for step in recording.steps]
    called = {step.name.rpartition(".")[2] for step in steps if isinstance(step, Called)}
    assert called >= {
        "plan",
        "begin_forward",
        "fast_decode_plan",
        "run",
        "forward",
        "forward_return_lse",
        "merge_state",
        "xqa_batch_decode_with_kv_cache",
        "nvfp4_quantize_append_paged_kv_cache_with_slot_mapping",
    }
    replays = [step for step in steps if isinstance(step, GraphEvent) and step.event == "replay"]
    assert len(replays) > len(recordings) // 4
    assert {recording.program for recording in recordings} == {"vllm 0.33.0", "sglang 0.5.23"}
