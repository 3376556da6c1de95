"""Stores in installed wheels: what is found, what is refused, and what that costs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from fictl.jit.store import installed
from fictl.jit.store.entry import Entry
from fictl.jit.store.installed import GROUP, installed_stores
from fictl.jit.store.stores import STORE_FILE, stores

ANY = lambda entry: True  # noqa: E731


def _found() -> Entry | None:
    entries = (store.find("local", "answer", "recipe", ANY) for store in stores())
    return next(filter(None, entries), None)


def test_a_wheel_is_found_by_its_entry_point_and_nothing_of_it_runs(install_wheel) -> None:
    root = install_wheel()
    (root / "__init__.py").write_text("raise SystemExit('imported')", encoding="utf-8")
    (store,) = installed_stores()
    assert (store.root, store.problem, str(store)) == (root, "", "my_prebuilt 1.0")
    entry = _found()
    assert entry is not None
    assert entry.path.is_relative_to(root)


def test_other_wheels_have_no_store(site_packages: Path) -> None:
    for number in range(3):
        info = site_packages / f"other{number}-1.0.dist-info"
        info.mkdir()
        (info / "entry_points.txt").write_text("[console_scripts]\na = b:c\n", encoding="utf-8")
    assert installed_stores() == ()


def test_the_order_is_the_cache_then_named_folders_then_wheels(
    install_wheel, fake_build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = install_wheel()
    named = tmp_path / "named"
    fake_build(named / "v1" / "local" / "answer" / "recipe" / "build")
    monkeypatch.setenv("FICTL_STORES", str(named))
    assert [store.root for store in stores()][1:] == [named, root]


def test_a_wheel_earlier_on_the_path_hides_one_of_its_name(
    install_wheel, site_packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tmp_path / "first"
    first.mkdir()
    monkeypatch.setattr(sys, "path", [str(first), str(site_packages)])
    install_wheel()
    root = install_wheel(folder=first)
    assert [store.root for store in installed_stores()] == [root]


def test_a_build_in_the_cache_looks_for_no_wheel(
    fake_build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = next(iter(stores())).root
    fake_build(cache / "v1" / "local" / "answer" / "recipe" / "build")
    monkeypatch.setattr("fictl.jit.store.stores.installed_stores", lambda: pytest.fail("looked"))
    assert _found() is not None


def test_the_path_is_read_once_until_something_is_installed(
    install_wheel, site_packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_wheel()
    installed_stores()
    reads: list[Path] = []
    real = installed.read_bytes
    monkeypatch.setattr(
        installed, "read_bytes", lambda path, *a: (reads.append(path), real(path, *a))[1]
    )
    installed_stores()
    assert reads == []
    install_wheel("second")
    os.utime(
        site_packages, ns=(1, 1)
    )  # The clock of a file system may be too coarse for this test.
    assert [store.distribution for store in installed_stores()] == ["my_prebuilt", "second"]
    assert len(reads) == 2


ELSEWHERE = ("../elsewhere", "/etc", "os.path", "my_prebuilt:stores", "a/b", "", ".", "..", "é")


@pytest.mark.parametrize("value", ELSEWHERE)
def test_a_place_that_is_no_folder_of_the_wheel_is_refused(install_wheel, value: str) -> None:
    install_wheel(value=value or " ")
    (store,) = installed_stores()
    assert "is not the name of a folder beside it" in store.problem
    assert _found() is None


def _link(root: Path) -> None:
    root.rename(root.with_name("real"))
    root.symlink_to(root.with_name("real"))


def _file(root: Path) -> None:
    root.rename(root.with_name("real"))
    root.touch()


BROKEN = {
    "a link": (_link, "is not a folder"),
    "a file": (_file, "is not a folder"),
    "gone": (lambda root: root.rename(root.with_name("real")), "cannot be read"),
    "no store": (lambda root: (root / STORE_FILE).unlink(), "has no store.json"),
    "writable by others": (lambda root: root.chmod(0o777), "can be written by everyone"),
}


@pytest.mark.parametrize(("spoil", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_wheel_is_one_warning_and_no_crash(
    install_wheel, caplog: pytest.LogCaptureFixture, spoil, reason: str
) -> None:
    spoil(install_wheel())
    good = install_wheel("second")
    for _ in range(3):
        entry = _found()
    assert entry is not None
    assert entry.path.is_relative_to(good)
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("the prebuilt modules of my_prebuilt 1.0 are passed over")
    assert reason in line


@pytest.mark.parametrize(
    "part", ["v1", "v1/local/answer", "v1/local/answer/recipe/build/module.so"]
)
def test_a_build_that_everyone_could_have_changed_is_passed_over(
    install_wheel, caplog: pytest.LogCaptureFixture, part: str
) -> None:
    place = install_wheel() / part
    place.chmod(0o777)
    assert _found() is None
    assert "can be written by everyone" in caplog.text


def test_a_build_behind_a_link_is_passed_over(install_wheel, tmp_path: Path, caplog) -> None:
    module = install_wheel() / "v1" / "local" / "answer"
    module.rename(tmp_path / "elsewhere")
    module.symlink_to(tmp_path / "elsewhere")
    assert _found() is None
    assert "is a link, which a wheel does not hold" in caplog.text


def test_what_the_group_may_write_is_used_because_pip_installs_so_with_umask_002(
    install_wheel,
) -> None:
    install_wheel().chmod(0o775)
    assert _found() is not None


def _binary(path: Path) -> None:
    path.write_bytes(b"\xff\xfe[fictl.stores]\n")


def _endless(path: Path) -> None:
    path.write_bytes(b"[fictl.stores]\n" + b"a = b\n" * 100_000)


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("spoil", [_binary, _endless, _pipe, _folder])
def test_an_entry_point_file_that_cannot_be_read_is_none(
    install_wheel, site_packages: Path, spoil
) -> None:
    install_wheel()
    spoil(site_packages / "my_prebuilt-1.0.dist-info" / "entry_points.txt")
    os.utime(site_packages, ns=(2, 2))
    assert installed_stores() == ()


def test_lines_without_sense_say_nothing(install_wheel, site_packages: Path) -> None:
    install_wheel()
    text = f"= = =\n[\n]\n[{GROUP}]\n\n;x\n[{GROUP}]]\n=my_prebuilt\n"
    (site_packages / "my_prebuilt-1.0.dist-info" / "entry_points.txt").write_text(
        text, encoding="utf-8"
    )
    os.utime(site_packages, ns=(3, 3))
    assert [store.problem for store in installed_stores()] == [""]
