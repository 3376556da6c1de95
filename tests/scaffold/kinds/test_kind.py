"""Kinds: ours, a user's own beside them or in their place, and a kind.toml that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.paths import data_root
from fictl.scaffold.kinds.kind import Kind, find_kind, kind_for, kinds

SHIPPED = data_root("templates") / "op"
WHOLE = 'summary = "s"\ninputs = ["x:n"]\noutputs = ["out:n"]\n'


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder of a user's own templates."""
    folder = tmp_path / "templates"
    folder.mkdir()
    return folder


def _written(own: Path, name: str, text: str, **files: str) -> None:
    for file, content in {"kind.toml": text, **files}.items():
        path = own / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


def _taken(kind: Kind) -> dict[str, Path]:
    """By file, the folder that it comes from."""
    return {where: path.parents[where.count("/")] for where, path in kind.files().items()}


@pytest.mark.parametrize("name", sorted(kinds()))
def test_what_we_ship_can_be_read_and_has_files(name: str) -> None:
    kind = find_kind(name)
    assert kind.summary
    assert any(where.endswith("/op.py") for where in kind.files())


def test_a_part_that_others_build_on_is_no_kind() -> None:
    assert not [name for name in kinds() if name.startswith("_")]
    with pytest.raises(UsageError, match="there is no kind '_cuda'"):
        find_kind("_cuda")


def test_one_that_there_is_not_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        find_kind("rowise")
    assert caught.value.message == "there is no kind 'rowise'"
    assert "did you mean 'rowwise'?" in caught.value.hint


def test_a_folder_adds_a_kind(own: Path) -> None:
    _written(own, "mine", WHOLE + 'dtypes = "f16"\n', **{"kernels/a.py": ""})
    kind = find_kind("mine", own)
    assert {**kinds(own)} == {**kinds(), "mine": kind}
    assert (kind.inputs, kind.dtypes, [*kind.files()]) == (("x:n",), "f16", ["kernels/a.py"])


def test_a_folder_replaces_a_kind_whole(own: Path) -> None:
    _written(own, "elementwise", WHOLE, **{"a.py": ""})
    assert _taken(find_kind("elementwise", own)) == {"a.py": own / "elementwise"}


def test_what_replaces_a_kind_may_build_on_it(own: Path) -> None:
    op = "kernels/{{family}}/{{name}}/op.py"
    _written(own, "elementwise", 'base = "elementwise"\narchs = ">=9.0"\n', **{op: ""})
    ours, theirs = find_kind("elementwise"), find_kind("elementwise", own)
    assert (theirs.archs, theirs.summary) == (">=9.0", ours.summary)
    assert {**_taken(ours), op: own / "elementwise"} == _taken(theirs)


def test_files_and_keys_come_from_the_base_unless_said_again(own: Path) -> None:
    _written(own, "first", WHOLE + 'archs = ">=8.0"\n', a="1", b="1")
    _written(own, "second", 'base = "first"\nsummary = "t"\n', b="2", c="2")
    kind = find_kind("second", own)
    assert (kind.summary, kind.archs, kind.inputs) == ("t", ">=8.0", ("x:n",))
    assert _taken(kind) == {"a": own / "first", "b": own / "second", "c": own / "second"}


def test_a_base_of_bases_is_followed(own: Path) -> None:
    _written(own, "first", WHOLE, a="1")
    _written(own, "second", 'base = "first"\n', b="2")
    _written(own, "third", 'base = "second"\n', c="3")
    assert [*find_kind("third", own).files()] == ["a", "b", "c"]


def test_bases_that_go_round_are_refused(own: Path) -> None:
    _written(own, "first", 'base = "second"\n')
    _written(own, "second", 'base = "first"\n')
    with pytest.raises(UsageError, match=r"first/kind\.toml: base 'first' comes back to itself"):
        find_kind("first", own)


def test_a_base_that_is_its_own_is_refused(own: Path) -> None:
    _written(own, "mine", 'base = "mine"\n')
    with pytest.raises(UsageError, match="there is no template 'mine'"):
        find_kind("mine", own)


def test_a_base_that_is_not_there_is_refused_with_the_places(own: Path) -> None:
    _written(own, "mine", 'base = "none"\n')
    with pytest.raises(UsageError) as caught:
        find_kind("mine", own)
    assert caught.value.hint == f"looked in {own}, {SHIPPED}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (WHOLE + 'kernal = "k"\n', "unknown key 'kernal'"),
        (WHOLE + "guess = ]\n", "Invalid value"),
        ('summary = "s"\n', "lacks inputs, outputs"),
        ('summary = "s"\ninputs = "x:n"\noutputs = []\n', "inputs = 'x:n'"),
        ('summary = "s"\ninputs = [1]\noutputs = []\n', r"inputs = \[1\]"),
        (WHOLE + 'expression = "row"\n', "expression = 'row'"),
        (WHOLE + 'guess = "1"\n', "guess = '1'"),
        (WHOLE + "archs = 8.0\n", r"archs = 8\.0"),
    ],
)
def test_a_file_that_is_wrong_is_refused_by_name(own: Path, text: str, said: str) -> None:
    _written(own, "mine", text)
    with pytest.raises(UsageError, match=rf"mine/kind\.toml.*{said}"):
        find_kind("mine", own)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the templates' folder .* is not there"):
        kinds(tmp_path / "none")


def test_what_python_and_the_kind_leave_beside_is_no_template(own: Path) -> None:
    _written(own, "mine", WHOLE, **{"a.py": "", "__pycache__/a.pyc": ""})
    assert [*find_kind("mine", own).files()] == ["a.py"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [("torch.topk(torch.softmax(x, -1), 2)", "topk"), ("x.cumsum(-1)", "scan"), ("cumsum", "")],
)
def test_a_call_of_torch_leads_to_the_kind_that_stands_for_it(text: str, kind: str) -> None:
    found = kind_for(text)
    assert (found.name if found else "") == kind
