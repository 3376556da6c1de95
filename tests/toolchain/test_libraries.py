"""Libraries that count by version."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fictl.toolchain import library_versions


@pytest.fixture
def triton(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The first package of that name that Python finds."""
    package = tmp_path / "triton" / "__init__.py"
    package.parent.mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "triton", raising=False)
    return package


@pytest.mark.parametrize(
    ("text", "version"), [('"""isort"""\n__version__ = \'3.6.0\'\n', "3.6.0"), ("", "unknown")]
)
def test_triton_says_its_own_version(triton: Path, text: str, version: str) -> None:
    triton.write_text(text)
    assert library_versions({"triton"}, ()) == {"triton": version}


def test_what_a_module_does_not_use_is_not_looked_for(triton: Path) -> None:
    assert library_versions((), ()) == {}


def test_triton_that_is_not_installed_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert library_versions({"triton"}, ()) == {}


def test_cute_dsl_has_the_version_of_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cutlass").mkdir()
    (tmp_path / "cutlass" / "__init__.py").write_text("")
    metadata = tmp_path / "nvidia_cutlass_dsl-4.9.7.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: nvidia-cutlass-dsl\nVersion: 4.9.7\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert library_versions({"cute-dsl"}, ()) == {"cute-dsl": "4.9.7"}


def test_cute_dsl_that_is_not_installed_has_no_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert library_versions({"cute-dsl"}, ()) == {}
