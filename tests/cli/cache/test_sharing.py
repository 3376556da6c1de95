"""fictl cache push and pull, and show, gc, verify and explain of what they moved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fictl import log, settings

ARCH = "8.0"


@pytest.fixture
def shared(
    fictl: Callable, tiny: Path, use_nvcc: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A folder that others can write, a key that is trusted, and an op that was built and sent."""
    use_nvcc("13.0")
    place = tmp_path / "shared"
    place.mkdir()
    place.chmod(0o775)
    monkeypatch.setenv(settings.CUDA_ARCH_LIST.name, ARCH)
    monkeypatch.setenv(settings.REMOTE.name, f"file://{place}")
    monkeypatch.setenv(settings.TRUST.name, str(tmp_path / "trust.toml"))
    monkeypatch.setenv(settings.SIGNING_KEY.name, str(tmp_path / "key"))
    assert fictl("trust", "new-key", str(tmp_path / "key")).code == 0
    assert fictl("trust", "add", "ci", str(tmp_path / "key.pub")).code == 0
    assert fictl("build").code == 0
    return place


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], None]:
    """Become a machine with an empty cache."""

    def become() -> None:
        monkeypatch.setenv(settings.WORKSPACE_BASE.name, str(tmp_path / "elsewhere"))
        log.warn_once.cache_clear()

    return become


def states(answer) -> list[str]:
    return [build["state"] for build in answer.document["data"]["builds"]]


def test_what_is_pushed_is_pulled(fictl, shared: Path, elsewhere) -> None:
    dry = fictl("cache", "push", "--dry-run", "--json")
    assert states(dry) == ["sent"]
    assert list(shared.iterdir()) == []
    first = fictl("cache", "push", "--json")
    assert first.document["schema"] == "fictl.cache.push/1"
    assert states(first) == ["sent"]
    assert states(fictl("cache", "push", "--json")) == ["there"]
    elsewhere()
    assert states(fictl("cache", "pull", "--dry-run", "--json")) == ["fetched"]
    pulled = fictl("cache", "pull", "--json")
    assert (pulled.code, states(pulled)) == (0, ["fetched"])
    assert states(fictl("cache", "pull", "--json")) == ["here"]
    explained = fictl("cache", "explain", "twice").out
    assert f"from file://{shared}, signed by ci (" in explained
    assert states(fictl("cache", "push", "--json")) == ["kept"]


def test_a_build_says_where_it_is_from(fictl, shared: Path, elsewhere) -> None:
    fictl("cache", "push")
    elsewhere()
    assert f"fetched from file://{shared}, signed by ci" in fictl("build").out


def test_what_is_missing_is_exit_1(fictl, shared: Path, elsewhere) -> None:
    elsewhere()
    pull = fictl("cache", "pull")
    assert pull.code == 1
    assert f"file://{shared} does not have it" in pull.out
    push = fictl("cache", "push")
    assert push.code == 1
    assert "it is not built here" in push.out


@pytest.mark.parametrize("command", ["push", "pull"])
def test_without_a_remote_it_says_how_to_set_one(
    fictl, shared: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.delenv(settings.REMOTE.name)
    answer = fictl("cache", command)
    assert answer.code == 2
    assert "FICTL_REMOTE=s3://" in answer.err


def test_a_remote_is_shown_verified_and_swept(fictl, shared: Path, tmp_path: Path) -> None:
    fictl("cache", "push")
    (listed,) = fictl("cache", "show", "--remote", "--json").document["data"]["builds"]
    assert (listed["module"], listed["signers"], listed["trusted"]) == (
        "elementwise.twice",
        ["ci"],
        True,
    )
    assert "1 build · 1 blob" in fictl("cache", "show", "twice", "--remote").out
    assert fictl("cache", "verify", "--remote").code == 0
    fictl("trust", "remove", "ci")
    assert "unknown" in fictl("cache", "show", "--remote").out
    (blob,) = [path for path in (shared / "blobs").rglob("*") if path.is_file()]
    blob.write_bytes(b"poison")
    verify = fictl("cache", "verify", "--remote")
    assert verify.code == 1
    assert "damaged builds/tiny/elementwise.twice/" in verify.out
    dry = fictl("cache", "gc", "--remote", "--older-than", "0s", "--dry-run", "--json").document
    assert len(dry["data"]["remotes"][0]["builds"]) == 1
    assert fictl("cache", "gc", "--remote", "--older-than", "0s").code == 0
    assert "0 builds" in fictl("cache", "show", "--remote").out


@pytest.mark.parametrize(
    "words", [("gc", "--remote", "--max-size", "1G"), ("verify", "--remote", "--repair")]
)
def test_what_a_remote_cannot_do_is_a_usage_error(fictl, shared: Path, words) -> None:
    assert fictl("cache", *words).code == 2
