"""Where tvm-ffi is, asked without importing it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys

import pytest

from fictl.errors import SetupError
from fictl.jit import ffi


@pytest.fixture(autouse=True)
def unasked():
    for function in (ffi.ffi_paths, ffi._installed_abi):
        function.cache_clear()
    yield
    for function in (ffi.ffi_paths, ffi._installed_abi):
        function.cache_clear()


def test_headers_and_library_are_where_they_are_said_to_be():
    paths = ffi.ffi_paths()
    assert (paths.tvm_ffi / "tvm" / "ffi" / "c_api.h").is_file()
    assert (paths.dlpack / "dlpack" / "dlpack.h").is_file()
    assert paths.library.is_file()


@pytest.mark.parametrize(("version", "abi"), [("0.1.15.post2", "0.1"), ("1.20.3", "1.20")])
def test_the_abi_is_the_first_two_numbers_of_the_version(monkeypatch, version, abi):
    monkeypatch.delitem(sys.modules, "tvm_ffi", raising=False)
    monkeypatch.setattr(importlib.metadata, "version", lambda _: version)
    assert ffi.ffi_abi() == abi


def test_asking_does_not_import_it(python):
    code = "from fictl.jit.ffi import *; ffi_paths(), ffi_abi(); print('tvm_ffi' in sys.modules)"
    assert python(code).communicate()[0] == "False\n"


def test_a_machine_without_it_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(SetupError, match=r"(?s)not installed.*pip install 'apache-tvm-ffi"):
        ffi.ffi_paths()
