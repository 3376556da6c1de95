from __future__ import annotations

from fictl.jit.store.use import hold


def test_it_prints_the_bytes_freed(fictl, cached) -> None:
    path = cached()
    size = sum(file.stat().st_size for file in path.iterdir())
    answer = fictl("cache", "clear")
    assert f"({size} bytes): 1 build · 0 B left" in answer.out
    assert not path.exists()


def test_nothing_to_clear_is_no_error(fictl, repo) -> None:
    answer = fictl("cache", "clear")
    assert (answer.code, answer.out) == (0, "freed 0 B (0 bytes): nothing · 0 B left\n")


def test_what_is_in_use_is_named_and_kept(fictl, cached) -> None:
    path = cached()
    hold(path)
    answer = fictl("cache", "clear")
    assert f"kept my_kernels/elementwise.halve {path}: in use" in answer.out
    assert path.exists()
    assert "--force" in answer.out


def test_force_takes_it_too(fictl, cached) -> None:
    path = cached()
    hold(path)
    assert "1 build" in fictl("cache", "clear", "--force").out
    assert not path.exists()


def test_an_op_alone(fictl, cached) -> None:
    halve, dense = cached(), cached("gemm.dense")
    document = fictl("cache", "clear", "halve", "--json").document
    assert [item["module"] for item in document["data"]["removed"]] == ["elementwise.halve"]
    assert (halve.exists(), dense.exists()) == (False, True)


def test_a_dry_run_lists_and_leaves(fictl, cached) -> None:
    path = cached()
    answer = fictl("cache", "clear", "--dry-run")
    assert str(path) in answer.out
    assert "would free" in answer.out
    assert path.exists()


def test_an_unknown_op_clears_nothing(fictl, cached) -> None:
    path = cached()
    assert fictl("cache", "clear", "halv").code == 2
    assert path.exists()
