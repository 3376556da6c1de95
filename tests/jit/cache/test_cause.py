"""Why a build was made: each cause in a few words, and what is left of it when records are lost."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest

from fictl.arch import Arch
from fictl.jit import gen_jit_spec
from fictl.jit.build import ensure
from fictl.jit.cache.cause import CAUSE
from fictl.jit.cache.explain import explain
from fictl.jit.module_spec import Template
from fictl.jit.progress import LogObserver

pytestmark = pytest.mark.needs_nvcc


@pytest.fixture
def header(tmp_path):
    path = tmp_path / "include" / "p" / "x.h"
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"// {n}\n" for n in range(1, 11)))
    return path


@pytest.fixture
def op(tmp_path, cpp, header):
    """A unit in its folder, and a header that it includes."""
    source = tmp_path / "op" / "answer.cpp"
    source.parent.mkdir()
    source.write_text(cpp(above="#include <p/x.h>"))
    return gen_jit_spec("answer", [source], extra_include_paths=[tmp_path / "include"])


def edit(header):
    header.write_text(header.read_text().replace("// 3\n", "// three\n"))


def why(spec, archs=()):
    return ensure(spec, archs).why


def test_the_first_build_says_so(op):
    assert why(op) == "first build"
    cause = explain(op).cause
    assert (cause.summary, cause.previous, cause.changes) == ("first build", None, ())


def test_what_was_built_already_has_no_reason_to_be_built(op):
    op.build()
    assert why(op) == ""


def test_a_header_that_changed_is_named_with_its_lines(op, header):
    first = op.build()
    edit(header)
    assert why(op) == "x.h changed"
    verdict = explain(op)
    (change,) = verdict.cause.changes
    assert verdict.hit
    assert verdict.changes == ()
    assert (change.kind, change.name, change.how) == ("header", str(header), "changed (line 3)")
    assert "-// 3\n+// three" in change.diff
    assert verdict.cause.previous.created == first.manifest.created


def test_one_of_several_files_is_named(op, header, cpp):
    op.build()
    edit(header)
    op.sources[0].write_text(cpp(value=2, above="#include <p/x.h>"))
    assert why(op) == "x.h and 1 other file changed"


def test_a_header_that_is_new_and_one_that_went(op, header, cpp):
    op.build()
    (header.parent / "y.h").write_text("// y\n")
    op.sources[0].write_text(cpp(above="#include <p/x.h>\n#include <p/y.h>"))
    assert why(op) == "y.h and 1 other file changed"
    header.write_text("#include <p/y.h>\n")
    assert why(op) == "x.h changed"


@pytest.mark.parametrize(
    ("variable", "value", "summary"),
    [
        ("FICTL_EXTRA_CFLAGS", "-DNEW", "flags changed"),
        ("CXX", "g++ -m64", "compiler changed"),
        ("FICTL_JIT_LINEINFO", "1", "first build of variant lineinfo"),
    ],
)
def test_the_environment_that_changed_is_named(op, monkeypatch, variable, value, summary):
    op.build()
    monkeypatch.setenv(variable, value)
    assert why(op) == summary
    assert explain(op).cause.summary == summary


def test_architectures_that_were_added(op):
    archs = (Arch(8, 0), Arch(9, 0, "a"))
    op.build(archs[:1])
    assert why(op, archs) == "architectures added"
    (change,) = explain(op, archs).cause.changes
    assert (change.kind, change.name) == ("architectures", "9.0a")


def test_other_parameters_are_a_module_of_their_own(op, tmp_path):
    config = tmp_path / "op" / "config.jinja"
    config.write_text("// {{ size }}\n")
    one, two = (
        replace(op, template=Template(config, "config.inc", {"size": size})) for size in (1, 2)
    )
    one.build()
    assert why(two) == "first build with these parameters"


def test_the_build_before_may_be_gone(op, header):
    first = op.build()
    edit(header)
    op.build()
    shutil.rmtree(first.path)
    cause = explain(op).cause
    assert cause.summary == "x.h changed"
    assert cause.changes[0].how == "changed (line 3)"


def test_without_the_text_of_the_past_the_file_is_named_alone(op, header, cache):
    op.build()
    edit(header)
    op.build()
    shutil.rmtree(cache / "v1" / ".sources")
    assert [change.how for change in explain(op).cause.changes] == ["changed"]


@pytest.mark.parametrize("text", ["", "[]", '{"summary": 1}', "\x00", None])
def test_a_record_that_is_lost_or_torn_leaves_the_builds_to_compare(op, header, text):
    op.build()
    edit(header)
    tear(op.build(), text)
    assert explain(op).cause.summary == "x.h changed"


@pytest.mark.parametrize(
    ("text", "reason"),
    [("", "the record cause.json cannot be read"), (None, "the build has no record of it")],
)
def test_with_neither_record_nor_build_it_says_so(op, header, text, reason):
    first = op.build()
    edit(header)
    tear(op.build(), text)
    shutil.rmtree(first.path)
    cause = explain(op).cause
    expected = f"not known: {reason}, and no earlier build is left to compare with"
    assert (cause.known, cause.summary) == (False, expected)


def test_an_edited_record_counts_as_torn(op, header):
    op.build()
    edit(header)
    entry = op.build()
    record = json.loads((entry.path / CAUSE).read_text())
    (entry.path / CAUSE).write_text(json.dumps({**record, "previous": None, "summary": "magic"}))
    assert explain(op).cause.summary == "x.h changed"


def test_where_all_builds_were_removed_the_next_is_not_called_the_first(op):
    shutil.rmtree(op.build().path)
    assert why(op) == "no earlier build is left to compare with"


def test_a_build_that_cannot_read_the_one_before_is_made_all_the_same(op, header):
    first = op.build()
    (first.path / "manifest.json").write_text("{")
    edit(header)
    assert why(op) == "no earlier build is left to compare with"


def test_the_end_line_has_the_reason(op, header, caplog):
    caplog.set_level("INFO", "fictl")
    ensure(op, observer=LogObserver())
    edit(header)
    ensure(op, observer=LogObserver())
    ends = [r.getMessage() for r in caplog.records if r.getMessage().startswith("built answer")]
    assert [line.rpartition(" s ")[2] for line in ends] == ["(first build)", "(x.h changed)"]


def test_the_document_has_the_cause_beside_what_it_had(op, header):
    first = op.build()
    assert explain(op).to_dict()["cause"] == {
        "summary": "first build",
        "since": None,
        "changes": [],
    }
    edit(header)
    assert explain(op).to_dict()["cause"] is None
    op.build()
    data = explain(op).to_dict()
    assert (data["verdict"], data["changes"], data["unchanged"]) == ("hit", [], [])
    assert data["cause"]["since"] == first.manifest.created
    assert [change["lines"] for change in data["cause"]["changes"]] == [((3, 3),)]


def tear(entry, text):
    """Write `text` over the record of a build, or take it away."""
    if text is None:
        (entry.path / CAUSE).unlink()
    else:
        (entry.path / CAUSE).write_text(text)
