"""Lock files: what is read, and what is refused in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import FictlError, InvalidValue, SetupError
from fictl.jit.lock_file import FILE, LockFile, nearest, read_lock

_HASH = "a1" * 32
_GOOD = f"""
schema = "fictl.lock/1"
[snapshot]
name = "2026.11"
sha256 = "{_HASH}"
[[module]]
name = "mine/norm.rms"
device = "cuda"
recipe = "49f8"
builds = [
    {{ build = "bfe4", platform = "x86_64-linux-glibc2.28", archs = ["sm_90a"], sha256 = "{_HASH}", size = 7 }},
]
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / FILE
    path.write_text(_GOOD, encoding="utf-8")
    return path


def _with(path: Path, old: str, new: str) -> Path:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


def test_a_lock_says_which_builds_a_recipe_has(path: Path) -> None:
    lock = read_lock(path)
    assert isinstance(lock, LockFile)
    assert (lock.snapshot.name, lock.snapshot.sha256) == ("2026.11", _HASH)
    (module,) = lock.recipes("mine/norm.rms", "cuda")
    (build,) = module.builds
    assert (module.recipe, build.archs, build.size) == ("49f8", ("9.0a",), 7)
    assert lock.recipes("mine/norm.rms", "emu") == ()
    assert lock.recipes("mine/norm", "cuda") == ()


def test_unknown_keys_are_passed_over(path: Path) -> None:
    assert read_lock(_with(path, "[snapshot]", 'note = "x"\n[snapshot]\nkey = 1')).modules


def test_an_edited_lock_is_read_again(path: Path) -> None:
    read_lock(path)
    assert read_lock(_with(path, "2026.11", "2026.12-rc1")).snapshot.name == "2026.12-rc1"


def test_one_of_a_newer_fictl_is_refused_as_such(path: Path) -> None:
    with pytest.raises(SetupError, match=r"has the schema fictl.lock/2, this fictl reads"):
        read_lock(_with(path, "fictl.lock/1", "fictl.lock/2"))


BROKEN = {
    "other document": ('"fictl.lock/1"', '"poetry/1"', "is not a lock file: schema"),
    "no TOML": ("[snapshot]", "[snapshot", "is not a lock file: .*line"),
    "no snapshot": ("[snapshot]", "[other]", "lacks 'snapshot'"),
    "no modules": ("[[module]]", "[[other]]", "lacks 'module'"),
    "a short hash": (_HASH, "a1", "sha256 = 'a1' is not a hash"),
    "a hash with a path": (_HASH, "../" * 21 + "b", "is not a hash"),
    "a name with dots": ("mine/norm.rms", "mine/../../x", r"'\.\./\.\./x' is not a name"),
    "a name without project": ("mine/norm.rms", "norm", "name = 'norm', as in"),
    "no architecture": ("sm_90a", "fast", "unknown architecture 'fast'"),
    "a negative size": ("size = 7", "size = -7", "size = -7 is not a number of bytes"),
    "a snapshot that is text": ("[snapshot]", 'snapshot = "x"\n[other]', "'x' is not a table"),
}


@pytest.mark.parametrize(("old", "new", "why"), BROKEN.values(), ids=BROKEN)
def test_what_is_not_a_lock_is_refused_with_its_path(
    path: Path, old: str, new: str, why: str
) -> None:
    with pytest.raises(InvalidValue, match=why) as caught:
        read_lock(_with(path, old, new))
    assert str(path) in caught.value.message
    assert caught.value.hint == "fictl artifacts lock writes it anew"


def test_a_lock_that_is_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(FictlError, match="Is a directory"):
        read_lock(tmp_path / FILE)


def test_the_nearest_one_counts(path: Path, tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert nearest(inner) == path
    (tmp_path / "a" / FILE).touch()
    assert nearest(inner, tmp_path) == tmp_path / "a" / FILE
