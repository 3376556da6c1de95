"""What counts is bytes: mtimes, clocks and their jumps change nothing."""

from __future__ import annotations

import json
import os
import time

from fictl.jit.store.entry import MANIFEST

_YEAR = 365 * 86400.0


def test_a_source_edited_under_an_old_mtime_is_compiled(project, call):
    assert call() == "42"
    path = project.op / "launcher.cu"
    before = path.stat()
    project.multiply_by(3)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert call() == "63"


def test_the_same_bytes_under_a_new_mtime_are_not(project, call):
    assert call() == "42"
    for path in (project.op / "launcher.cu", project.op / "binding.cpp", project.header):
        path.write_bytes(path.read_bytes())
        os.utime(path, (1, 1))
    assert call() == "42"
    assert project.compiles == 1


def test_an_edited_header_is_seen(project, call):
    project.multiply_by("FACTOR")
    for factor in (5, 6):
        text = "#pragma once\n#define FACTOR"
        project.header.write_text(f"{text} {factor}\n", encoding="utf-8")
        assert call() == str(21 * factor)


def test_a_header_that_a_header_includes_is_seen(project, call):
    project.multiply_by("FACTOR")
    project.header.write_text('#pragma once\n#include "inner.cuh"\n', encoding="utf-8")
    for factor in (7, 8):
        (project.header.parent / "inner.cuh").write_text(f"#define FACTOR {factor}\n")
        assert call() == str(21 * factor)


def test_sources_from_the_future_are_built_and_hit(project, call):
    path = project.op / "launcher.cu"
    os.utime(path, (time.time() + _YEAR, time.time() + _YEAR))
    assert call() == call() == "42"
    project.multiply_by(3)
    os.utime(path, (time.time() + _YEAR, time.time() + _YEAR))
    assert call() == "63"


def test_after_the_clock_was_set_back_old_builds_serve_and_edits_beat_them(project, call):
    assert call() == "42"
    (entry,) = project.entries
    data = json.loads((entry.path / MANIFEST).read_text())
    late = {**data, "created": time.time() + _YEAR}
    (entry.path / MANIFEST).write_text(json.dumps(late), encoding="utf-8")
    for path in (*entry.path.rglob("*"), *project.folder.rglob("*")):
        os.utime(path, (time.time() + _YEAR, time.time() + _YEAR))
    assert call() == "42"
    assert project.compiles == 1
    project.multiply_by(3)
    assert call() == "63"


def test_a_failure_from_the_future_stops_nobody(project, fictl_, call):
    project.multiply_by("nonsense")
    assert fictl_("build", "twice").code == 1
    for path in (project.folder / "failed").rglob("*.json"):
        data = json.loads(path.read_text())
        path.write_text(json.dumps({**data, "when": time.time() + _YEAR}))
    # The same bytes may compile now, as after the installation of a header that was missing.
    again = fictl_("build", "twice", FICTL_EXTRA_CUDAFLAGS="")
    assert again.code == 1
    assert project.compiles == 2
    project.multiply_by(2)
    assert call() == "42"
