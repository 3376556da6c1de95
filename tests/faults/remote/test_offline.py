"""Machines without a network: nothing hangs, and what needs no network asks for none."""

from __future__ import annotations

import subprocess
import sys

import pytest

_EXTRAS = "obstore", "cryptography"
_WARM = """import sys
sys.modules.update(dict.fromkeys(["torch", "numpy", "ml_dtypes", "cuda"]))
from fictl.project import mount
mount()
import tiny
print(tiny.ops.twice(21), *sorted({extras!r} & set(sys.modules)))
"""
_REMOTES = [
    "s3://bucket/prefix",
    "gs://bucket/prefix",
    "az://container/prefix",
    "https://fictl.invalid/builds",
    "http://10.1.2.3/builds",
    "file:///nowhere/at/all",
]


def test_the_noter_notes(connections):
    code = "import socket\ntry: socket.create_connection(('127.0.0.1', 1))\nexcept OSError: pass"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert connections() == ["getaddrinfo 127.0.0.1", "connect 127.0.0.1:1"]


def test_a_miss_does_connect(filled, fictl_, connections):
    """Else the tests below would prove nothing."""
    assert fictl_("build", "twice").code == 0
    assert any(line.startswith("connect 127.0.0.1:") for line in connections())


def test_a_warm_load_connects_to_nothing_and_imports_no_client(
    filled, fictl_, start, pulled, connections, tmp_path
):
    assert fictl_("build", "twice").code == 0
    assert pulled()
    filled.proxy.forget()
    (tmp_path / "connections").unlink()
    child = start("-c", _WARM.format(extras=set(_EXTRAS)))
    out, err = child.communicate(timeout=60)
    assert (out, filled.proxy.requests, connections()) == ("42\n", [], []), err


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("list",),
        ("where", "twice"),
        ("cache", "show"),
        ("cache", "verify"),
        ("cache", "explain", "twice"),
        ("trust", "list"),
        ("config", "show"),
    ],
    ids=" ".join,
)
def test_what_needs_no_network_connects_to_nothing(
    filled, project, start, fictl_, connections, words
):
    child = start("-X", "importtime", "-m", "fictl", *words)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 0, err
    imported = {line.rpartition("|")[2].strip() for line in err.splitlines()}
    assert not imported & set(_EXTRAS)
    assert (filled.proxy.requests, connections()) == ([], [])


@pytest.mark.parametrize("url", _REMOTES)
def test_a_build_without_a_network_is_made_here_soon(without_a_network, keys, project, url):
    code, text, seconds = without_a_network("build", "twice", FICTL_REMOTE=url)
    assert code == 0, text
    assert seconds < 15
    assert text.count(url) == 1, text
    code, text, _ = without_a_network("cache", "explain", "twice", FICTL_REMOTE=url)
    assert code == 0, text


@pytest.mark.parametrize("url", _REMOTES[:4])
def test_where_nothing_may_compile_the_reason_is_said(without_a_network, keys, project, url):
    code, text, seconds = without_a_network(
        *("build", "twice"), FICTL_REMOTE=url, FICTL_DISABLE_JIT="1"
    )
    assert code == 3, text
    assert seconds < 15
    assert url in text


@pytest.mark.parametrize(
    "words", [("push", "twice"), ("pull", "twice", "--arch", "9.0"), ("show", "--remote")]
)
def test_commands_about_the_remote_say_that_there_is_no_way_to_it(
    without_a_network, keys, project, words
):
    assert without_a_network("build", "twice", FICTL_REMOTE_MODE="off")[0] == 0
    code, text, seconds = without_a_network("cache", *words, FICTL_REMOTE="s3://bucket/prefix")
    assert code in {1, 3}, text
    assert seconds < 30
    assert "s3://bucket/prefix" in text


def test_with_no_download_nothing_connects_whatever_is_asked(
    project, keys, fictl_, connections, monkeypatch
):
    monkeypatch.setenv("FICTL_REMOTE", "s3://bucket/prefix https://127.0.0.1:1/x")
    monkeypatch.setenv("FICTL_NO_DOWNLOAD", "1")
    for words, codes in (
        (("build", "twice"), {0}),
        (("cache", "pull", "twice"), {0, 1, 3}),
        (("cache", "push", "twice"), {1, 3}),
        (("cache", "show", "--remote"), {1, 3}),
        (("cache", "verify", "--remote"), {1, 3}),
        (("cache", "gc", "--remote", "--older-than", "30d"), {1, 3}),
    ):
        answer = fictl_(*words, FICTL_REMOTE_MODE="write")
        assert answer.code in codes, (words, answer)
    assert connections() == []


def test_a_warm_load_works_without_a_network(without_a_network, filled, fictl_, project, pulled):
    assert fictl_("build", "twice").code == 0
    assert pulled()
    code, text, _ = without_a_network("build", "twice")
    assert code == 0
    assert "was built already" in text
