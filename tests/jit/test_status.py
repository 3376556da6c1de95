"""Built, stale or not built, told from files alone."""

from __future__ import annotations

import os

import pytest

from fictl.arch import Arch
from fictl.jit import gen_jit_spec
from fictl.jit.status import BuildStatus, built
from fictl.jit.store.entry import MANIFEST
from fictl.jit.store.stores import stores
from fictl.sealed import seal, unseal

pytestmark = pytest.mark.needs_nvcc


@pytest.fixture
def op(tmp_path, cpp):
    (tmp_path / "op").mkdir()
    (tmp_path / "include" / "p").mkdir(parents=True)
    (tmp_path / "include" / "p" / "x.h").write_text("// x\n")
    source = tmp_path / "op" / "answer.cpp"
    source.write_text(cpp(above="#include <p/x.h>"))
    return gen_jit_spec("answer", [source], extra_include_paths=[tmp_path / "include"])


def _status(spec):
    return built(stores(), spec.project, spec.name, spec.base, spec.include_dirs)


def test_a_module_that_was_never_built_is_not(op):
    assert _status(op) == BuildStatus("no")


def test_a_module_is_built_for_the_architectures_of_all_its_builds(op):
    op.build()
    op.build([Arch(9, 0, "a")])
    assert _status(op) == BuildStatus("built", (Arch(8, 0), Arch(9, 0, "a")))


@pytest.mark.parametrize("name", ["op/answer.cpp", "include/p/x.h"])
def test_an_edit_makes_it_stale_until_it_is_taken_back(op, tmp_path, name):
    op.build()
    path = tmp_path / name
    text = path.read_text()
    path.write_text(text + "// edited\n")
    assert _status(op) == BuildStatus("stale")
    path.write_text(text)
    assert _status(op).state == "built"


def test_a_new_mtime_changes_nothing(op):
    op.build()
    os.utime(op.sources[0], (1, 1))
    assert _status(op).state == "built"


def test_a_file_that_is_gone_makes_it_stale(op):
    op.build()
    op.sources[0].unlink()
    assert _status(op) == BuildStatus("stale")


def test_a_build_for_another_platform_is_as_good_as_none(op):
    manifest = op.build().path / MANIFEST
    manifest.write_text(seal({**unseal(manifest.read_text()), "platform": "sparc64-linux"}))
    assert _status(op) == BuildStatus("no")


def test_a_broken_manifest_is_as_good_as_none(op):
    entry = op.build()
    (entry.path / "manifest.json").write_text("{")
    assert _status(op) == BuildStatus("no")
    assert entry.path.exists()
