from __future__ import annotations

import re
import zipfile
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


@pytest.fixture
def installed(fictl, twice_build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that a wheel was installed into, on a machine whose cache is empty."""
    _wheel(fictl, tmp_path)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("FICTL_WORKSPACE_BASE", str(tmp_path / "another"))
    return site


def test_what_is_installed_is_a_hit_that_names_the_wheel(fictl, installed: Path) -> None:
    answer = fictl("cache", "explain", "twice")
    assert re.fullmatch(
        r"hit   tiny/elementwise\.twice  8\.0, from the wheel tiny-prebuilt-cu\d+ 1\.0\n",
        answer.out,
    )
    assert str(installed) in fictl("build", "twice").out
    assert f"{installed}/tiny_prebuilt" in fictl("cache", "show").out


def test_an_edit_makes_a_wheel_stale_which_is_a_miss_and_no_more(
    fictl, tiny: Path, installed: Path
) -> None:
    launcher = tiny / "kernels" / "elementwise" / "twice" / "launcher.cu"
    launcher.write_text(launcher.read_text() + "// edited\n")
    assert fictl("cache", "explain", "twice").out.startswith("miss")
    answer = fictl("build", "twice")
    assert answer.code == 0
    assert str(installed) not in answer.out


def test_a_stale_wheel_where_nothing_can_compile_is_refused_by_name(
    fictl, tiny: Path, installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = tiny / "kernels" / "elementwise" / "twice" / "launcher.cu"
    launcher.write_text(launcher.read_text() + "// edited\n")
    monkeypatch.setenv("FICTL_DISABLE_JIT", "1")
    answer = fictl("build", "twice", "--json")
    assert answer.code == 3
    assert "elementwise.twice is in no store" in answer.document["error"]["message"]
