"""A solution's Python is a package of its own: it finds its files, and no other's."""

from __future__ import annotations

import sys
import traceback

import pytest
import torch

from fictl.runnable.imported import open_package


@pytest.fixture
def opened(tmp_path):
    packages = []

    def make(name, **files):
        sources = {f"{path.replace('__', '/')}.py": text for path, text in files.items()}
        package = open_package(name, tmp_path, sources)
        packages.append(package)
        return package

    yield make
    for package in packages:
        package.close()


def test_relative_and_plain_imports_are_of_one_module(opened):
    package = opened(
        "own_a",
        helper="value = 1",
        main="from . import helper as one\nimport helper as two\nfrom helper import value",
    )
    main = package.load("main.py")
    assert main.one is main.two
    assert main.value == 1


def test_a_folder_is_a_package(opened):
    package = opened(
        "own_b",
        sub__deep__leaf="import top\nfrom sub.other import x",
        sub__other="x = 5",
        top="",
        main="import sub.deep.leaf\nfrom sub.deep import leaf\nvalue = sub.deep.leaf.x",
    )
    assert package.load("main.py").value == 5


def test_modules_of_the_same_name_do_not_meet(opened):
    one = opened("own_c", helper="value = 1", main="import helper")
    two = opened("own_d", helper="value = 2", main="import helper")
    assert one.load("main.py").helper.value == 1
    assert two.load("main.py").helper.value == 2
    assert "helper" not in sys.modules


def test_an_import_inside_a_function_finds_them_later(opened):
    package = opened(
        "own_e", helper="value = 3", main="def f():\n    import helper\n    return helper.value"
    )
    assert package.load("main.py").f() == 3


def test_a_file_named_as_a_library_can_import_that(opened):
    package = opened("own_f", colorsys="import colorsys\nf = colorsys.rgb_to_hls", other="")
    assert callable(package.load("colorsys.py").f)


def test_torch_is_torch_whatever_files_there_are(opened):
    package = opened("own_l", torch="x = 1", helper="import torch", main="import helper, torch")
    main = package.load("main.py")
    assert main.torch is main.helper.torch is torch


def test_a_folder_does_not_hide_what_is_installed(opened):
    package = opened(
        "own_m",
        pytest__kernels="x = 1",
        ours__kernels="x = 2",
        main="import pytest\nfrom ours.kernels import x\nfrom .pytest.kernels import x as y",
    )
    main = package.load("main.py")
    assert (main.pytest, main.x, main.y) == (pytest, 2, 1)


def test_files_with_dots_and_dashes_are_modules(tmp_path):
    package = open_package("own_g", tmp_path, {"my-kernel.v2.py": "value = 4"})
    assert package.load("my-kernel.v2.py").value == 4
    package.close()


def test_what_lies_in_the_folder_is_not_run(opened, tmp_path):
    (tmp_path / "main.py").write_text("raise SystemExit")
    (tmp_path / "extra.py").write_text("raise SystemExit")
    package = opened("own_h", main="value = 6")
    assert package.load("main.py").value == 6


def test_a_future_import_of_ours_is_not_theirs(opened):
    assert opened("own_i", main="x: int = 1").load("main.py").__annotations__ == {"x": int}


def test_nothing_is_left_when_the_last_user_has_closed_it(opened, tmp_path):
    before = ([*sys.path], [*sys.meta_path], {*sys.modules})
    first = open_package("own_j", tmp_path, {"main.py": "import other", "other.py": ""})
    second = open_package("own_j", tmp_path, {"main.py": "import other", "other.py": ""})
    module = first.load("main.py")
    assert second.load("main.py") is module
    first.close()
    assert "own_j.other" in sys.modules
    second.close()
    assert ([*sys.path], [*sys.meta_path], {*sys.modules}) == before


def test_a_traceback_shows_the_line(opened, tmp_path):
    package = opened("own_k", main="def f():\n    return 1 / 0  # here")
    with pytest.raises(ZeroDivisionError) as raised:
        package.load("main.py").f()
    assert "1 / 0  # here" in "".join(traceback.format_exception(raised.value))
