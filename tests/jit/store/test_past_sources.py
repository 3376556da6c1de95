"""The sources of past builds, kept by hash."""

from __future__ import annotations

import hashlib

import pytest

from fictl.jit.store.past_sources import folder, keep, recall


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "scale.cuh"
    path.write_text("one\ntwo\n", encoding="utf-8")
    return path


def _sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_what_was_kept_is_recalled_after_an_edit(tmp_path, source):
    then = _sha256(source)
    keep(tmp_path, {"scale.cuh": then}, {"scale.cuh": source})
    source.write_text("three\n")
    assert recall(tmp_path, then) == "one\ntwo\n"


def test_what_was_never_kept_is_not_recalled(tmp_path):
    assert recall(tmp_path, "0" * 64) is None


def test_a_file_edited_since_it_was_hashed_is_not_kept_under_that_hash(tmp_path, source):
    keep(tmp_path, {"scale.cuh": "0" * 64}, {"scale.cuh": source})
    assert list(folder(tmp_path).iterdir()) == []


def test_bytes_that_are_no_text_are_left_out(tmp_path, source):
    source.write_bytes(b"\xff\xfe")
    keep(tmp_path, {"scale.cuh": _sha256(source)}, {"scale.cuh": source})
    assert recall(tmp_path, _sha256(source)) is None


def test_a_cache_that_cannot_be_written_costs_nothing_but_the_explanation(tmp_path, source):
    (tmp_path / "file").touch()
    keep(tmp_path / "file", {"scale.cuh": _sha256(source)}, {"scale.cuh": source})
    assert recall(tmp_path / "file", _sha256(source)) is None


@pytest.mark.needs_nvcc
def test_a_build_keeps_its_sources(answer, cache):
    spec = answer()
    (sha256,) = spec.build().manifest.inputs.values()
    assert recall(cache, sha256) == spec.sources[0].read_text()
