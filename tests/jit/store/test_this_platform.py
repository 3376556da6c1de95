"""What this machine can load, by the platform of a build."""

from __future__ import annotations

import os

import pytest

from fictl.jit.store import this_platform
from fictl.jit.store.this_platform import here, unfit

MACHINE = os.uname().machine


_REMEMBERED = (here, this_platform._cxx_library, this_platform._defines)


@pytest.fixture(autouse=True)
def _forgotten():
    yield
    for one in _REMEMBERED:
        one.cache_clear()


def test_this_machine_can_load_its_own_builds():
    assert not unfit(str(here()))
    assert not unfit(here().general)
    assert not unfit("")


@pytest.mark.parametrize(
    ("platform", "reason"),
    [
        ("sparc64-linux-glibc2.2", f"it is for sparc64-linux, this is {MACHINE}-linux"),
        (f"{MACHINE}-freebsd", f"it is for {MACHINE}-freebsd"),
        (f"{MACHINE}-linux-musl", "it is for musl, this is glibc"),
        (f"{MACHINE}-linux-glibc2.999", "it needs glibc 2.999, here is 2."),
        (f"{MACHINE}-linux-glibc2.2-glibcxx3.4.999", "it needs GLIBCXX_3.4.999, which /"),
        (f"{MACHINE}-linux-glibc2.2-cxxabi9.9", "it needs CXXABI_9.9"),
        (f"{MACHINE}-linux-libzephyr", "which this version of fictl does not know"),
        ("penguin", "is not a platform"),
    ],
)
def test_what_cannot_be_loaded_is_named(platform, reason):
    assert reason in unfit(platform)


def test_versions_are_compared_as_numbers():
    assert not unfit(f"{MACHINE}-linux-glibc2.9-glibcxx3.4.9")


def test_the_c_library_of_musl_is_another(monkeypatch):
    def confstr(_):
        raise ValueError("unrecognized configuration name")

    monkeypatch.setattr(os, "confstr", confstr)
    monkeypatch.setattr("sysconfig.get_config_var", lambda _: "x86_64-alpine-linux-musl")
    here.cache_clear()
    assert here().general == f"{MACHINE}-linux-musl"
    assert unfit(f"{MACHINE}-linux-glibc2.34") == "it is for glibc, this is musl"
    assert not unfit(f"{MACHINE}-linux-musl")


def test_a_library_in_the_loader_s_own_path_comes_first(tmp_path, monkeypatch):
    library = tmp_path / "libstdc++.so.6"
    library.write_bytes(b"\0GLIBCXX_3.4.1\0")
    monkeypatch.setenv("LD_LIBRARY_PATH", f":/nowhere:{tmp_path}")
    monkeypatch.setattr(this_platform, "_mapped", list)
    this_platform._cxx_library.cache_clear()
    assert not unfit(f"{MACHINE}-linux-glibc2.2-glibcxx3.4.1")
    assert str(library) in unfit(f"{MACHINE}-linux-glibc2.2-glibcxx3.4.21")


def test_an_unknown_c_plus_plus_library_is_no_reason(monkeypatch):
    monkeypatch.setattr(this_platform, "_cxx_library", lambda: None)
    assert not unfit(f"{MACHINE}-linux-glibc2.2-glibcxx3.4.999")
