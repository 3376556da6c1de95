from __future__ import annotations

import shutil
import sys
from importlib import import_module

import pytest

from fictl.errors import UsageError
from fictl.project import Project, mount


def test_a_project_is_importable_where_it_lies(tree) -> None:
    mount()
    module = import_module("my_kernels.elementwise.halve.bench")
    assert module.__file__ == str(tree.root / "kernels/elementwise/halve/bench.py")


def test_mounting_twice_changes_nothing(tree) -> None:
    mount(tree.project)
    first = sys.modules["my_kernels"]
    mount(tree.project)
    assert sys.modules["my_kernels"] is first


def test_a_mounted_project_has_a_facade(tree) -> None:
    mount(tree.project)
    import my_kernels
    from my_kernels.ops import halve

    assert dir(my_kernels.ops) == ["halve"]
    assert my_kernels.ops.halve is halve


def test_the_shipped_package_is_mounted_by_itself() -> None:
    mount(Project.shipped())
    assert "fictl.kernels" in sys.modules


def test_a_folder_of_the_same_name_on_the_path_is_no_package(
    tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.write("elsewhere/my_kernels/notes.txt", "")
    monkeypatch.syspath_prepend(tree.root / "elsewhere")
    mount(tree.project)
    assert sys.modules["my_kernels"].__path__ == [str(tree.root / "kernels")]


def test_a_foreign_package_is_refused_not_shadowed(tree, monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = tree.write("elsewhere/my_kernels/__init__.py", "")
    monkeypatch.syspath_prepend(tree.root / "elsewhere")
    with pytest.raises(UsageError, match=rf"that name is taken by {foreign}"):
        mount(tree.project)


def wheel(tree) -> str:
    """Files of a wheel of the project; return the folder that holds its package."""
    tree.write("wheel/my_kernels/__init__.py", f"{INIT}wheel = True\n")
    tree.write("wheel/my_kernels/fictl.toml", 'name = "my_kernels"\n')
    tree.write("wheel/my_kernels/kernels/elementwise/halve/bench.py", "")
    return str(tree.root / "wheel")


def test_a_wheel_of_the_project_is_the_same_project_and_what_lies_here_is_used(
    tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(wheel(tree))
    mount(tree.project)
    assert str(tree.root / "kernels") in list(sys.modules["my_kernels"].__path__)
    bench = import_module("my_kernels.elementwise.halve.bench")
    assert bench.__file__ == str(tree.root / "kernels/elementwise/halve/bench.py")


def test_the_package_of_the_project_itself_is_used_not_that_of_the_wheel(
    tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.write("my_kernels/__init__.py", f"{INIT}wheel = False\n")
    monkeypatch.syspath_prepend(wheel(tree))
    mount(tree.project)
    module = sys.modules["my_kernels"]
    assert not module.wheel
    assert list(module.__path__) == [str(tree.root / "my_kernels"), str(tree.root / "kernels")]


def test_a_wheel_that_is_not_unpacked_is_one_too(tree, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = shutil.make_archive(str(tree.root / "my_kernels-1-py3-none-any"), "zip", wheel(tree))
    monkeypatch.syspath_prepend(archive)
    mount(tree.project)
    assert list(sys.modules["my_kernels"].__path__) == [str(tree.root / "kernels")]


@pytest.mark.parametrize("toml", ['name = "another"\n', "not toml", ""])
def test_a_wheel_of_another_project_is_refused(tree, monkeypatch, toml: str) -> None:
    place = wheel(tree)
    tree.write("wheel/my_kernels/fictl.toml", toml)
    tree.write("wheel/my_kernels/__init__.py", "")
    monkeypatch.syspath_prepend(place)
    with pytest.raises(UsageError, match="that name is taken by"):
        mount(tree.project)


def test_another_project_of_the_same_name_is_refused(tree) -> None:
    mount(tree.project)
    tree.write("copy/fictl.toml", 'name = "my_kernels"\n')
    with pytest.raises(UsageError, match="that name is taken by"):
        mount(Project.at(tree.root / "copy"))


def test_a_package_that_is_the_kernels_folder_is_used_as_it_is(
    tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.write("my_kernels/__init__.py", "installed = True")
    tree.write("fictl.toml", 'name = "my_kernels"\nkernels = "my_kernels"\n')
    monkeypatch.syspath_prepend(tree.root)
    mount(tree.project)
    assert sys.modules["my_kernels"].installed


INIT = "from fictl.project import mounted\n__path__, ops = mounted(__name__, __path__)\n"


def test_a_package_of_the_project_s_own_has_its_ops(tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.write("my_kernels/__init__.py", INIT)
    monkeypatch.syspath_prepend(tree.root)
    import my_kernels
    from my_kernels.ops import halve

    assert my_kernels.ops.halve is halve
    assert list(my_kernels.__path__) == [
        str(tree.root / "my_kernels"),
        str(tree.root / "kernels"),
    ]


def test_a_package_of_the_project_s_own_is_what_is_mounted(
    tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    init = tree.write("my_kernels/__init__.py", INIT)
    monkeypatch.syspath_prepend(tree.root)
    mount(tree.project)
    assert sys.modules["my_kernels"].__file__ == str(init)


def test_a_package_that_lies_in_another_project_is_refused(
    tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.write("other_kernels/__init__.py", INIT)
    monkeypatch.syspath_prepend(tree.root)
    with pytest.raises(UsageError, match=r"other_kernels .* lies in: that is my_kernels"):
        import_module("other_kernels")
