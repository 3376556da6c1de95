"""Config templates, strict about names."""

from __future__ import annotations

import pytest

from fictl.errors import UsageError
from fictl.jit import Template
from fictl.jit.render import render


@pytest.fixture
def template(tmp_path):
    def make(text, **parameters):
        path = tmp_path / "config.jinja"
        path.write_text(text, encoding="utf-8")
        return Template(path, "config.inc", parameters)

    return make


def test_parameters_are_filled_in_and_the_last_newline_is_kept(template, tmp_path):
    render(template("// ß\nconstexpr int kDim = {{ dim }};\n", dim=64), tmp_path / "src")
    text = (tmp_path / "src" / "config.inc").read_text(encoding="utf-8")
    assert text == "// ß\nconstexpr int kDim = 64;\n"


def test_nothing_is_escaped_for_html(template, tmp_path):
    render(template("#include {{ name }}", name="<a&b>"), tmp_path)
    assert (tmp_path / "config.inc").read_text() == "#include <a&b>"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\nb\n{{ dmi }}\n", r"config\.jinja:3: 'dmi' is undefined"),
        ("a\n{% if dmi == 64 %}x{% endif %}\n", r"config\.jinja:2: 'dmi' is undefined"),
        ("{{ dim.nope }}\n", r"config\.jinja:1: .*has no attribute 'nope'"),
        ("a\n\n{% if %}\n", r"config\.jinja:3: Expected an expression"),
        ("a\n{{ dim // 0 }}\n", r"config\.jinja:2: .*by zero"),
        ('a\n{% include "b.jinja" %}\n', r"config\.jinja:2: no loader"),
    ],
)
def test_an_error_names_file_line_and_reason(template, tmp_path, text, message):
    with pytest.raises(UsageError, match=message) as caught:
        render(template(text, dim=64, dtype="half"), tmp_path / "src")
    assert caught.value.hint == "parameters given: dim, dtype"
    assert not (tmp_path / "src").exists()


def test_an_error_with_no_parameters_says_so(template, tmp_path):
    with pytest.raises(UsageError) as caught:
        render(template("{{ x }}"), tmp_path)
    assert caught.value.hint == "parameters given: none"
