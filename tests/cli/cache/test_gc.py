from __future__ import annotations

import os
import time

import pytest


def test_it_takes_what_is_too_old(fictl, cached) -> None:
    old, new = cached(name="old"), cached(name="new")
    os.utime(old, (1, 1))
    document = fictl("cache", "gc", "--older-than", "30d", "--json").document
    assert document["schema"] == "fictl.cache.gc/1"
    assert [item["path"] for item in document["data"]["removed"]] == [str(old)]
    assert (old.exists(), new.exists()) == (False, True)


def test_it_takes_what_is_too_much(fictl, cached) -> None:
    paths = [cached(name=f"b{i}", content=b"x" * 5000) for i in range(3)]
    for age, path in enumerate(paths):
        os.utime(path, (time.time() - age, time.time() - age))
    assert "freed" in fictl("cache", "gc", "--max-size", "12k").out
    assert [path.exists() for path in paths] == [True, True, False]


def test_a_dry_run_removes_nothing(fictl, cached) -> None:
    path = cached()
    document = fictl("cache", "gc", "--max-size", "0", "--dry-run", "--json").document
    assert document["data"]["dry_run"] is True
    assert document["data"]["freed"] > 0
    assert path.exists()


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [("--max-size", "lots", "is not a size"), ("--older-than", "30", "is not an age")],
)
def test_a_quantity_that_cannot_be_read_is_a_usage_error(fictl, repo, option, value, said) -> None:
    answer = fictl("cache", "gc", option, value, "--json")
    assert answer.code == 2
    assert said in answer.document["error"]["message"]
