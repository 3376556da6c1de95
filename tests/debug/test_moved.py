"""The folders in a module's debug info, and what they are here."""

from __future__ import annotations

from pathlib import Path

from fictl.debug.moved import moved

HERE = Path("/here/include/my/norm")


def test_a_folder_that_ends_alike_is_the_one_here(tmp_path: Path) -> None:
    module = tmp_path / "module.so"
    module.write_bytes(
        b"\0\0/tmp/a/include/my/norm\0/tmp/b b/include/my/norm\0/here/include/my/norm\0"
        b"/tmp/c/include/my/norm/deeper\0/tmp/d/include/other/norm\0relative/include/my/norm\0"
    )
    assert moved([module], [HERE]) == {
        Path("/tmp/a/include/my/norm"): HERE,
        Path("/tmp/b b/include/my/norm"): HERE,
    }


def test_a_build_of_this_checkout_needs_nothing(tmp_path: Path) -> None:
    module = tmp_path / "module.so"
    module.write_bytes(b"\0/here/include/my/norm\0")
    assert moved([module], [HERE]) == {}
