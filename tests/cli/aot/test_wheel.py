from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.needs_nvcc


def _wheel(fictl, tmp_path: Path, *words: str):
    out = tmp_path / "dist"
    return fictl("aot", "wheel", "--out", str(out), "--version", "1.0", *words)


def test_it_says_what_was_packed_and_how_to_use_it(fictl, twice_build, tmp_path: Path) -> None:
    answer = _wheel(fictl, tmp_path)
    assert answer.code == 0
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    assert f"✓ {wheel.name}  1 module  8.0  " in answer.out
    assert f"use it: pip install {wheel}" in answer.out


def test_the_document_names_every_wheel(fictl, twice_build, tmp_path: Path) -> None:
    answer = _wheel(fictl, tmp_path, "--json")
    assert answer.document["schema"] == "fictl.aot.wheel/1"
    (wheel,) = answer.document["data"]["wheels"]
    assert Path(wheel["path"]).stat().st_size == wheel["size"]
    assert wheel["modules"] == ["tiny/elementwise.twice"]


def test_a_name_of_ones_own_keeps_the_cuda(fictl, twice_build, tmp_path: Path) -> None:
    answer = _wheel(fictl, tmp_path, "--name", "acme-kernels", "--json")
    (wheel,) = answer.document["data"]["wheels"]
    assert wheel["name"].startswith("acme-kernels-cu")


def test_over_the_limit_is_exit_1_with_the_way_out(fictl, twice_build, tmp_path: Path) -> None:
    answer = _wheel(fictl, tmp_path, "--max-size", "1K", "--json")
    assert answer.code == 1
    assert "over the 1.0 KiB of --max-size" in answer.document["error"]["message"]
    assert "name fewer ops" in answer.document["error"]["hint"]


def test_a_dry_run_makes_no_wheel(fictl, tiny: Path, tmp_path: Path) -> None:
    answer = _wheel(fictl, tmp_path, "--dry-run", "--json")
    assert [plan["module"] for plan in answer.document["data"]] == ["elementwise.twice"]
    assert not (tmp_path / "dist").exists()


WRONG = {
    "split": (("--split", "both"), "'both' is none of auto, family, none"),
    "size": (("--max-size", "big"), "'big' is not a size"),
    "no size": (("--max-size", "0"), "no wheel is that small"),
    "emulated archs": (("--device", "emu", "--arch", "8.0"), "--arch names GPUs"),
    "name": (("--name", "../x"), "is not the name of a package"),
}


@pytest.mark.parametrize(("words", "reason"), WRONG.values(), ids=WRONG)
def test_what_is_asked_wrongly_is_refused_before_anything_is_built(
    fictl, tiny: Path, tmp_path: Path, words: tuple[str, ...], reason: str
) -> None:
    answer = _wheel(fictl, tmp_path, *words, "--json")
    assert answer.code == 2
    assert reason in answer.document["error"]["message"]


def test_a_folder_that_cannot_be_written_is_refused(fictl, tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "dist").touch()
    answer = _wheel(fictl, tmp_path, "--json")
    assert answer.code == 2
    assert "--out" in answer.document["error"]["message"]
