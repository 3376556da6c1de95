"""Engines around their warm-up: the tuner, its file, its ranks and the second autotune."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fictl.compat import flashinfer
from fictl.compat.flashinfer.autotuner import (
    AutoTuner,
    _collect_metadata,
    get_autotune_process_group,
    set_autotune_process_group,
)
from fictl.compat.flashinfer.autotuner.autotuner import _classify_metadata_mismatches
from fictl.op.tactics.tuning import tuner


def test_there_is_one_tuner_with_nothing_to_write() -> None:
    assert AutoTuner.get() is AutoTuner.get()
    assert not AutoTuner.get()._dirty


def test_a_file_is_of_its_environment(tmp_path: Path) -> None:
    """vLLM sends the file to other ranks, and refuses to start where it is not loaded there."""
    path = tmp_path / "configs.json"
    AutoTuner.get().save_configs(str(path))
    assert AutoTuner.get().load_configs(str(path))
    document = json.loads(path.read_text())
    assert document == {"_metadata": _collect_metadata()}
    path.write_text(json.dumps({"_metadata": {**_collect_metadata(), "gpu": "another"}}))
    assert not AutoTuner.get().load_configs(str(path))


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", "{", '{"_metadata": 3}'])
def test_what_is_no_file_of_its_own_is_not_loaded(text: str, tmp_path: Path) -> None:
    path = tmp_path / "configs.json"
    path.write_text(text)
    assert not AutoTuner.get().load_configs(str(path))
    assert not AutoTuner.get().load_configs(str(tmp_path / "nothing"))


def test_mismatches_contradict_or_say_nothing() -> None:
    here = {"gpu": "H200", "cuda_version": "13.0", "flashinfer_version": "0.7.2"}
    saved = {"gpu": "H100", "cuda_version": "unknown", "flashinfer_version": "*", "more": "1"}
    hard, soft = _classify_metadata_mismatches(saved, here)
    assert (hard, soft) == ({"gpu": ("H100", "H200")}, {"cuda_version": ("unknown", "13.0")})
    assert _classify_metadata_mismatches(None, here) == (
        {},
        {k: (None, v) for k, v in here.items()},
    )


def test_the_group_of_ranks_is_kept() -> None:
    group = object()
    set_autotune_process_group(group)
    try:
        assert get_autotune_process_group() is group
    finally:
        set_autotune_process_group(None)
    assert get_autotune_process_group() is None


def test_the_second_autotune_tunes_inside_and_not_after(tmp_path: Path) -> None:
    for words in ({}, {"persistent_cache": False}, {"cache_root": tmp_path, "skip_ops": {"x"}}):
        with flashinfer.autotune_v2(mode="tune", **words):
            assert tuner() is not None
        assert tuner() is None
    with flashinfer.autotune_v2(mode="replay"):
        assert tuner() is None
    flashinfer.autotune_v2_reload()
    # SGLang nests the two.
    with (
        flashinfer.autotune(True, cache=None, skip_ops=set()),
        flashinfer.autotune_v2("tune", False),
    ):
        pass


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        ({"mode": "guess"}, "mode='guess'"),
        ({"measurement_policy": 3}, "measurement_policy=3 is not supported"),
        ({"tuning_buckets": (1,)}, "tuning_buckets=.1,. is not supported"),
        ({"mode": "replay", "cache_root": "there"}, "cache_root='there' is not read with"),
    ],
)
def test_what_the_second_does_not_take_is_refused(words, refusal: str) -> None:
    with pytest.raises(ValueError, match=refusal):
        flashinfer.autotune_v2(**words)


@pytest.mark.parametrize("skip", ["mm_bf16", {"mm_bf16"}])
def test_ops_that_are_skipped_keep_their_default(skip) -> None:
    """tests/tune/test_tuner.py has what the tuner does with them."""
    with flashinfer.autotune(skip_ops=skip):
        assert tuner()._skip == {"mm_bf16"}


def test_what_is_tuned_can_be_forgotten(monkeypatch) -> None:
    cleared: list[bool] = []
    monkeypatch.setattr("fictl.op.tactics.tuning.clear", lambda: cleared.append(True))
    AutoTuner.get().clear_cache()
    assert cleared
