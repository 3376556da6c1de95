from __future__ import annotations

from fictl.jit.store.entry import MODULE


def test_a_whole_cache_is_fine(fictl, cached) -> None:
    cached()
    answer = fictl("cache", "verify")
    assert (answer.code, answer.out) == (
        0,
        "✓ 1 builds, objects and records are as they were written\n",
    )


def test_a_corrupt_build_is_named_and_exits_1(fictl, cached) -> None:
    path = cached()
    (path / MODULE).write_bytes(b"cOde")
    answer = fictl("cache", "verify", "--json")
    assert answer.code == 1
    (broken,) = answer.document["data"]["corrupt"]
    assert (broken["path"], broken["removed"]) == (str(path), False)
    assert "other bytes" in broken["problem"]
    assert "--repair" in answer.document["error"]["hint"]


def test_repair_removes_it(fictl, cached) -> None:
    path = cached()
    (path / MODULE).write_bytes(b"cOde")
    answer = fictl("cache", "verify", "--repair")
    assert answer.code == 0
    assert f"removed {path}: {MODULE} has other bytes" in answer.out
    assert not path.exists()
