from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.needs_nvcc


@pytest.fixture
def header(tiny: Path) -> Path:
    return tiny / "kernels" / "include" / "tiny" / "elementwise" / "twice.cuh"


def test_before_the_first_build_it_is_a_miss(fictl, tiny: Path) -> None:
    answer = fictl("cache", "explain", "twice")
    assert answer.code == 0
    assert answer.out.startswith("miss  tiny/elementwise.twice  no store has a build of")


def test_after_it_a_hit_then_a_miss_that_names_file_and_line(fictl, header: Path) -> None:
    fictl("build", "twice")
    assert fictl("cache", "explain", "twice").out.startswith("hit   tiny/elementwise.twice  8.0")
    header.write_text("// first\n" + header.read_text())
    said = fictl("cache", "explain", "twice").out
    assert "miss  tiny/elementwise.twice  since the build of " in said
    assert "twice.cuh changed (line 1)" in said
    assert "unchanged: flags, compiler, architectures" in said


def test_after_the_rebuild_it_says_why_it_was_rebuilt(fictl, header: Path) -> None:
    assert "(first build)" in fictl("build", "twice").out
    assert fictl("cache", "explain", "twice").out.rstrip().endswith("s: first build")
    header.write_text("// first\n" + header.read_text())
    assert "s (twice.cuh changed)" in fictl("build", "twice").out
    shown = fictl("cache", "explain", "twice").out
    assert shown.startswith("hit   tiny/elementwise.twice  8.0, built ")
    assert "twice.cuh changed (line 1) since the build of " in shown
    assert "    +// first" in fictl("cache", "explain", "twice", "-v").out


def test_several_changes_are_listed_below_the_hit(fictl, header: Path, monkeypatch) -> None:
    fictl("build", "twice")
    header.write_text("// first\n" + header.read_text())
    monkeypatch.setenv("FICTL_EXTRA_CFLAGS", "-DNEW")
    fictl("build", "twice")
    first, *rest = fictl("cache", "explain", "twice").out.splitlines()
    assert "s: twice.cuh changed, flags changed since the build of " in first
    assert [line.split()[-2:] for line in rest] == [["(line", "1)"], ["with", "-DNEW"]]


def test_verbose_shows_the_edit(fictl, header: Path) -> None:
    fictl("build", "twice")
    header.write_text("// first\n" + header.read_text())
    assert "    +// first" in fictl("cache", "explain", "twice", "-v").out


def test_the_document_has_one_verdict_a_module(fictl, header: Path) -> None:
    fictl("build", "twice")
    header.write_text("// first\n" + header.read_text())
    document = fictl("cache", "explain", "twice", "--json").document
    assert (document["schema"], document["ok"]) == ("fictl.cache.explain/1", True)
    (verdict,) = document["data"]
    assert verdict["verdict"] == "miss"
    assert [(change["kind"], change["lines"]) for change in verdict["changes"]] == [
        ("header", [[1, 1]])
    ]
    assert verdict["unchanged"] == ["flags", "compiler", "architectures"]


def test_another_architecture_is_a_miss_for_that(fictl, tiny: Path) -> None:
    fictl("build", "twice")
    said = fictl("cache", "explain", "twice", "--arch", "9.0a").out
    assert "architectures 9.0a wanted, it was built for 8.0" in said


def test_a_build_for_the_emulated_device_is_a_hit_there(
    fictl, tiny: Path, users_cache: None
) -> None:
    fictl("build", "twice", "--device", "emu")
    said = fictl("cache", "explain", "twice", "--device", "emu").out
    assert said.startswith("hit   tiny/elementwise.twice  emu, built ")


def test_an_edit_of_the_emulator_is_a_miss_for_that(
    fictl, tiny: Path, users_cache: None, monkeypatch
) -> None:
    fictl("build", "twice", "--device", "emu")
    monkeypatch.setattr("fictl.emu.toolchain.emulator_digest", lambda: "edited")
    said = fictl("cache", "explain", "twice", "--device", "emu").out
    assert "  compiler emulator is edited, was " in said
    # Of the sources nothing is said: the user's cache may hold a newer build of other ones.
    assert "flags, architectures" in said.partition("unchanged: ")[2]


def test_an_architecture_of_the_emulated_device_is_refused(fictl, tiny: Path) -> None:
    answer = fictl("cache", "explain", "twice", "--device", "emu", "--arch", "9.0a")
    assert answer.code == 2
    assert "--arch names GPUs" in answer.err
