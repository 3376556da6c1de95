from __future__ import annotations

from fictl.jit.store.entry import MANIFEST


def test_an_empty_cache_is_said_in_one_line(fictl, repo) -> None:
    answer = fictl("cache", "show")
    assert answer.code == 0
    assert answer.out.startswith("0 builds · 0 B in ")


def test_a_build_is_a_row(fictl, cached) -> None:
    cached(archs=("8.0", "9.0a"))
    heading, row, total = fictl("cache", "show").out.splitlines()
    assert heading.split()[:4] == ["op", "archs", "variant", "size"]
    assert row.startswith("my_kernels/elementwise.halve  8.0 9.0a  release")
    assert row.rstrip().endswith("cache")
    assert total.startswith("1 build · ")


def test_a_build_for_the_emulated_device_has_that_for_its_architectures(fictl, cached) -> None:
    cached(device="emu", archs=(), variant="check")
    row = fictl("cache", "show").out.splitlines()[1]
    assert row.split()[:3] == ["my_kernels/elementwise.halve", "emu", "check"]


def test_a_build_that_cannot_be_read_is_called_corrupt(fictl, cached) -> None:
    (cached() / MANIFEST).write_text("{")
    assert "corrupt" in fictl("cache", "show").out


def test_a_build_of_a_newer_fictl_is_called_that(fictl, cached) -> None:
    (cached() / MANIFEST).write_text('{"schema": "fictl.build/2"}')
    assert "of a newer fictl" in fictl("cache", "show").out
    (entry,) = fictl("cache", "show", "--json").document["data"]["entries"]
    assert (entry["corrupt"], entry["newer"]) == (False, True)


def test_the_document_has_what_the_table_has(fictl, cached) -> None:
    path = cached()
    document = fictl("cache", "show", "halve", "--json").document
    assert (document["schema"], document["ok"]) == ("fictl.cache.show/1", True)
    (entry,) = document["data"]["entries"]
    assert entry["path"] == str(path)
    assert {
        "project",
        "module",
        "archs",
        "size",
        "created",
        "last_used",
        "origin",
        "in_use",
    } <= set(entry)


def test_an_op_that_is_unknown_is_a_usage_error(fictl, cached) -> None:
    answer = fictl("cache", "show", "halv", "--json")
    assert answer.code == 2
    assert answer.document["error"]["message"] == "there is no op 'halv'"
