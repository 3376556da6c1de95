"""Object files by content key."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fictl.jit.plan import Unit
from fictl.jit.store.objects import fetch, keep


@pytest.fixture
def unit(tmp_path):
    return Unit(tmp_path / "a.cpp", "a.o", "0123456789abcdef", (), device=False)


@pytest.fixture
def built(tmp_path, unit):
    path = tmp_path / "built" / "a.o"
    path.parent.mkdir()
    path.write_bytes(b"object")
    keep(tmp_path / "objects", unit, path.parent)
    return path


def test_an_object_that_was_kept_comes_back(tmp_path, unit, built):
    built.unlink()
    (tmp_path / "into").mkdir()
    assert fetch(tmp_path / "objects", unit, tmp_path / "into")
    assert (tmp_path / "into" / "a.o").read_bytes() == b"object"


def test_an_unknown_key_is_a_miss(tmp_path, unit):
    assert not fetch(tmp_path / "objects", unit, tmp_path)


def test_a_broken_object_is_a_miss_and_is_removed(tmp_path, unit, built):
    (kept,) = (tmp_path / "objects").iterdir()
    kept.write_bytes(b"rotten")
    assert not fetch(tmp_path / "objects", unit, tmp_path)
    assert not (tmp_path / "a.o").exists()
    assert not kept.exists()


def test_keeping_twice_leaves_one_file(tmp_path, unit, built):
    keep(tmp_path / "objects", unit, built.parent)
    assert len(list((tmp_path / "objects").iterdir())) == 1


def test_an_object_on_another_file_system_is_copied(tmp_path, unit, built, monkeypatch):
    def refuse(*_):
        raise OSError

    monkeypatch.setattr("os.link", refuse)
    assert fetch(tmp_path / "objects", unit, tmp_path)
    assert (tmp_path / "a.o").read_bytes() == b"object"
    assert (tmp_path / "a.o").stat().st_nlink == 1


def test_an_object_that_is_cleared_away_while_it_is_fetched_is_a_miss(
    tmp_path, unit, built, monkeypatch
):
    def vanish(source, target):
        source.unlink(missing_ok=True)
        raise FileNotFoundError(source)

    monkeypatch.setattr("os.link", vanish)
    assert not fetch(tmp_path / "objects", unit, tmp_path)


def test_the_output_of_a_kernels_compiler_is_kept_with_its_object(tmp_path, unit, built):
    kernel = replace(unit, source=tmp_path / "a.cu", key="fedcba9876543210", device=True)
    (built.parent / "a.o.log").write_text("ptxas info")
    keep(tmp_path / "objects", kernel, built.parent)
    assert fetch(tmp_path / "objects", kernel, tmp_path)
    assert (tmp_path / "a.o.log").read_text() == "ptxas info"


def test_a_kernels_object_without_that_output_is_a_miss(tmp_path, unit, built):
    kernel = replace(unit, device=True)
    assert not fetch(tmp_path / "objects", kernel, tmp_path)
