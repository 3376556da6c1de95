"""Own builds go to the remote behind the user's back, and never in the way."""

from __future__ import annotations

import logging
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fictl import settings
from fictl.jit import JitSpec
from fictl.jit.build import ensure
from fictl.jit.remote import sender
from fictl.trust.secret_key import SecretKey

pytestmark = pytest.mark.usefixtures("url")


@pytest.fixture(autouse=True)
def _written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(settings.REMOTE_MODE.name, "write")


def done() -> bool:
    return sender.of_process().join(30)


def documents(place: Path) -> list[Path]:
    return [path for path in place.rglob("*-*.json") if path.parent != place]


def test_what_is_compiled_is_sent_and_used_elsewhere(
    answer: Callable[..., JitSpec], place: Path, key: SecretKey, elsewhere, compiled, url: str
) -> None:
    spec = answer()
    assert ensure(spec).compiled
    assert done()
    assert len(documents(place)) == 1
    elsewhere()
    assert not ensure(spec).compiled
    assert len(compiled()) == 1


def test_what_was_fetched_is_not_sent_again(
    answer: Callable[..., JitSpec], place: Path, key: SecretKey, elsewhere
) -> None:
    ensure(answer())
    done()
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    elsewhere()
    ensure(answer())
    done()
    assert {path: path.stat().st_mtime_ns for path in place.rglob("*")} == before


def test_a_nearer_remote_gets_what_a_farther_one_had(
    answer: Callable[..., JitSpec],
    place: Path,
    key: SecretKey,
    elsewhere,
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ensure(answer())
    done()
    near = tmp_path / "near"
    near.mkdir()
    near.chmod(0o775)
    monkeypatch.setenv(settings.REMOTE.name, f"file://{near} {url}")
    monkeypatch.delenv(settings.SIGNING_KEY.name)  # The signature is the builder's.
    elsewhere()
    assert ensure(answer()).why == f"fetched from {url}, signed by ci"
    assert done()
    elsewhere("third")
    assert ensure(answer()).why == f"fetched from file://{near}, signed by ci"


def test_without_a_key_one_warning_says_so(
    answer: Callable[..., JitSpec], place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ensure(answer(1))
    ensure(answer(2))
    assert done()
    warnings = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]
    assert len(warnings) == 1
    assert "there is no signing key" in warnings[0]
    assert list(place.iterdir()) == []


def test_another_s_folder_is_not_written_to(
    answer: Callable[..., JitSpec], place: Path, key: SecretKey, caplog: pytest.LogCaptureFixture
) -> None:
    (place / "thesis.txt").write_text("mine")
    ensure(answer())
    assert done()
    assert "fictl did not put there" in caplog.text
    assert [path.name for path in place.iterdir()] == ["thesis.txt"]


def test_a_variant_with_paths_stays_here(
    answer: Callable[..., JitSpec], place: Path, key: SecretKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(settings.JIT_DEBUG.name, "1")
    ensure(answer())
    assert done()
    assert list(place.iterdir()) == []


def test_a_process_sends_before_it_ends(
    tmp_path: Path, place: Path, key: SecretKey, python: Callable[..., subprocess.Popen[str]], cpp
) -> None:
    source = tmp_path / "answer.cpp"
    source.write_text(cpp())
    code = (
        "from pathlib import Path\n"
        "from fictl.jit import gen_jit_spec\n"
        f"gen_jit_spec('answer', [Path({str(source)!r})]).build()\n"
    )
    process = python(code)
    text = process.communicate(timeout=120)[0]
    assert process.returncode == 0, text
    assert len(documents(place)) == 1


def test_a_process_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch, answer, caplog) -> None:
    """For 10 s at most: what is not sent is said, with the command that sends it."""
    import threading

    stuck = threading.Event()
    monkeypatch.setattr(sender, "_send", lambda *_: stuck.wait(60))
    ensure(answer())
    start = time.monotonic()
    assert not sender.of_process().join(0.2)
    assert time.monotonic() - start < 5
    assert "fictl cache push" in caplog.text
    stuck.set()
    assert done()
