from __future__ import annotations

import pytest

from fictl import toolchain
from fictl.errors import SetupError
from fictl.toolchain import current_toolchain, hostcxx, require_toolchain, search


def test_the_identity_has_versions_and_build_ids_but_no_path(use_nvcc):
    use_nvcc("12.8")
    identity = require_toolchain().identity()
    assert identity["nvcc"] == "12.8 cuda_12.8.r12.8/compiler.35583870_0"
    assert identity["cxx"] == require_toolchain().cxx.identity
    assert not any("/tmp" in text or "/usr" in text for text in identity.values())


def test_there_is_no_toolchain_without_an_nvcc(monkeypatch):
    monkeypatch.setattr(search, "_places", lambda: iter(()))
    assert current_toolchain() is None


def test_there_is_no_toolchain_without_a_host_compiler(use_nvcc, monkeypatch):
    use_nvcc("12.8")
    monkeypatch.setattr(hostcxx, "_NAMES", ("no-such-compiler",))
    toolchain.forget()
    assert current_toolchain() is None


def test_a_host_compiler_that_the_user_named_is_never_passed_over(use_nvcc, monkeypatch):
    use_nvcc("12.8")
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(SetupError, match="no-such-compiler"):
        current_toolchain()
