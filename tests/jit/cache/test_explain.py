"""Hit or miss, and which input changed since the build that is nearest."""

from __future__ import annotations

import os
import shutil
import time

import pytest

from fictl.arch import Arch
from fictl.jit import gen_jit_spec
from fictl.jit.cache.explain import explain
from fictl.jit.store.entry import MANIFEST, MODULE
from fictl.sealed import seal, unseal

pytestmark = pytest.mark.needs_nvcc


@pytest.fixture
def op(tmp_path, cpp):
    """A unit in its folder, and a header that it includes."""
    (tmp_path / "op").mkdir()
    (tmp_path / "include" / "p").mkdir(parents=True)
    header = tmp_path / "include" / "p" / "x.h"
    header.write_text("".join(f"// {n}\n" for n in range(1, 11)))
    source = tmp_path / "op" / "answer.cpp"
    source.write_text(cpp(above="#include <p/x.h>"))
    return gen_jit_spec("answer", [source], extra_include_paths=[tmp_path / "include"])


def _only(verdict):
    (change,) = verdict.changes
    return change


def test_what_was_never_built_misses_and_says_where_it_looked(op, cache):
    verdict = explain(op)
    assert not verdict.hit
    assert verdict.why == f"no store has a build of answer (looked in {cache})"
    assert verdict.to_dict()["build"] is None


def test_what_was_built_is_hit(op):
    entry = op.build()
    verdict = explain(op)
    assert (verdict.hit, verdict.changes) == (True, ())
    assert verdict.to_dict()["build"] == str(entry.path)


def test_a_touched_file_is_still_a_hit(op):
    op.build()
    os.utime(op.sources[0], (1, 1))
    assert explain(op).hit


def test_an_edited_header_is_named_with_its_lines(op, tmp_path):
    op.build()
    header = tmp_path / "include" / "p" / "x.h"
    lines = header.read_text().splitlines(keepends=True)
    lines[2] = "// three\n"
    lines[6:8] = ["// seven\n", "// eight\n"]
    header.write_text("".join(lines))
    verdict = explain(op)
    change = _only(verdict)
    assert (change.kind, change.name) == ("header", str(header))
    assert change.how == "changed (line 3, 7-8)"
    assert change.lines == ((3, 3), (7, 8))
    assert "-// 3\n+// three" in change.diff
    assert verdict.unchanged == ("flags", "compiler", "architectures")


def test_lines_that_are_gone_are_named_by_the_one_before(op, tmp_path):
    op.build()
    header = tmp_path / "include" / "p" / "x.h"
    lines = header.read_text().splitlines(keepends=True)
    header.write_text("".join(lines[:4] + lines[6:]))
    assert _only(explain(op)).lines == ((4, 4),)


def test_an_edited_source_is_a_source(op):
    op.build()
    op.sources[0].write_text(op.sources[0].read_text() + "// end\n")
    assert _only(explain(op)).kind == "source"


def test_an_edit_with_an_old_mtime_is_an_edit(op):
    op.build()
    op.sources[0].write_text(op.sources[0].read_text() + "// end\n")
    os.utime(op.sources[0], (1, 1))
    assert not explain(op).hit


def test_a_header_that_is_new_and_one_that_went_are_told_apart(op, tmp_path, cpp):
    op.build()
    (tmp_path / "include" / "p" / "y.h").write_text("// y\n")
    op.sources[0].write_text(cpp(above="#include <p/y.h>"))
    hows = {change.name: change.how for change in explain(op).changes}
    assert hows[str(tmp_path / "include" / "p" / "y.h")] == "is new"
    assert hows["<p/x.h>"] == "is not part of it any more"


def test_flags_are_named_by_the_words_that_came_and_went(op, monkeypatch):
    op.build()
    monkeypatch.setenv("FICTL_EXTRA_CFLAGS", "-DNEW")
    change = _only(explain(op))
    assert (change.kind, change.name, change.how) == ("flags", "cxx", "now with -DNEW")


def test_another_variant_is_named(op, monkeypatch):
    op.build()
    monkeypatch.setenv("FICTL_JIT_LINEINFO", "1")
    assert "is lineinfo, was release" in [change.how for change in explain(op).changes]


def test_another_compiler_is_named(op, monkeypatch):
    op.build()
    monkeypatch.setenv("CXX", "g++ -m64")
    change = _only(explain(op))
    assert (change.kind, change.name) == ("compiler", "cxx")
    assert "-m64, was g++" in change.how


def test_architectures_that_are_missing_are_named(op):
    op.build()
    verdict = explain(op, (Arch(8, 0), Arch(9, 0, "a")))
    change = _only(verdict)
    assert (change.kind, change.name) == ("architectures", "9.0a")
    assert change.how == "wanted, it was built for 8.0"
    assert verdict.unchanged == ("sources", "flags", "compiler")


def test_the_newest_build_is_the_one_compared_with(op, cpp):
    op.build()
    op.sources[0].write_text(cpp(value=2, above="#include <p/x.h>"))
    second = op.build()
    op.sources[0].write_text(cpp(value=3, above="#include <p/x.h>"))
    assert explain(op).entry.path == second.path


def test_a_corrupt_build_is_a_miss_that_says_so(op, monkeypatch):
    entry = op.build()
    shutil.copytree(entry.path, entry.path.with_name("copy"))
    (entry.path.with_name("copy") / MODULE).write_bytes(b"")
    text = (entry.path / MANIFEST).read_text()
    shutil.rmtree(entry.path)
    (entry.path.with_name("copy") / MANIFEST).write_text(
        text.replace(f'"build": "{entry.path.name}"', '"build": "copy"')
    )
    verdict = explain(op)
    assert not verdict.hit
    # Looking for a build set it aside.
    assert verdict.why.startswith("no store has a build")


def test_a_build_for_another_platform_is_a_miss_that_says_so(op):
    manifest = op.build().path / MANIFEST
    manifest.write_text(seal({**unseal(manifest.read_text()), "platform": "sparc64-linux"}))
    verdict = explain(op)
    assert not verdict.hit
    assert verdict.why.startswith("the build cannot be loaded here: it is for sparc64-linux")


def test_without_the_text_of_the_past_the_file_is_named_alone(op, cache):
    op.build()
    shutil.rmtree(cache / "v1" / ".sources")
    op.sources[0].write_text(op.sources[0].read_text() + "// end\n")
    assert _only(explain(op)).how == "changed"


def test_nothing_is_built_or_written(op, cache, listing):
    op.build()
    op.sources[0].write_text(op.sources[0].read_text() + "// end\n")
    before = listing(cache)
    explain(op)
    assert listing(cache) == before


def test_a_clock_that_was_set_back_does_not_matter(op, monkeypatch):
    with monkeypatch.context() as later:
        later.setattr("time.time", lambda now=time.time: now() + 1e6)
        op.build()
    assert explain(op).hit


def test_a_build_that_holds_the_paths_of_another_folder_misses_and_says_so(
    op, tmp_path, monkeypatch
):
    monkeypatch.setenv("FICTL_JIT_DEBUG", "1")
    op.build()
    shutil.copytree(tmp_path / "op", tmp_path / "second")
    second = gen_jit_spec(
        "answer", [tmp_path / "second/answer.cpp"], extra_include_paths=[tmp_path / "include"]
    )
    verdict = explain(second)
    assert (verdict.hit, verdict.changes) == (False, ())
    assert verdict.why == (
        "debug builds hold the paths of their files, and these were built from another folder"
    )
