from __future__ import annotations

import time

import pytest

from fictl.errors import UsageError
from fictl.project import Project, find, folders, names, select
from fictl.project.discover import find_function


def test_a_module_exists_where_its_op_file_does(tree) -> None:
    tree.op("norm", "rms")
    tree.write("kernels/norm/empty/jit.py", "")
    tree.write("kernels/norm/_plan.py", "")
    tree.write("kernels/.cache/x/op.py", "")
    found = [(folder.family, folder.module) for folder in folders(tree.project)]
    assert found == [("elementwise", "halve"), ("norm", "rms")]


def test_a_project_without_its_folder_is_an_error(tree) -> None:
    tree.write("fictl.toml", 'name = "my_kernels"\nkernels = "src"\n')
    with pytest.raises(UsageError, match=r"my_kernels has no folder .*src"):
        folders(tree.project)


@pytest.mark.parametrize(
    "name",
    [
        "halve",
        "elementwise",
        "elementwise/halve",
        "halved",
        "my_kernels/halve",
        "my_kernels/elementwise/halve",
        "my_kernels/halved",
    ],
)
def test_an_op_goes_by_module_function_family_or_project(tree, name: str) -> None:
    tree.edit("kernels/elementwise/halve/op.py", "def halve", "def halved")
    assert [str(folder) for folder in find(name)] == ["my_kernels/elementwise/halve"]


def test_a_family_is_all_its_modules(tree) -> None:
    tree.op("elementwise", "twice")
    assert [folder.module for folder in find("elementwise")] == ["halve", "twice"]


def test_shipped_ops_are_found_from_a_users_project(tree) -> None:
    assert [str(folder) for folder in find("scale")] == ["fictl/elementwise/scale"]


def test_the_project_at_hand_comes_before_the_shipped_one(tree) -> None:
    tree.op("elementwise", "scale")
    assert [folder.project.name for folder in find("scale")] == ["my_kernels"]
    assert [folder.project.name for folder in find("fictl/scale")] == ["fictl"]


@pytest.mark.parametrize("name", ["halv", "my_kernels/halv", "elementwise/halv"])
def test_a_miss_suggests_the_nearest(tree, name: str) -> None:
    with pytest.raises(UsageError, match=r"there is no op .*\n.*did you mean 'halve'"):
        find(name)


@pytest.mark.parametrize("name", ["", "/", "a/b/c/d", "../halve", "halve/", "*"])
def test_nonsense_is_a_miss(tree, name: str) -> None:
    with pytest.raises(UsageError, match="there is no op"):
        find(name)


def test_a_name_defined_twice_is_an_error_that_prints_both_paths(tree) -> None:
    tree.op("norm", "rms")
    for module in ("elementwise/halve", "norm/rms"):
        tree.write(
            f"kernels/{module}/op.py",
            '@op(archs="8.0", dtypes="f16", mutates="")\ndef both(): ...\n',
        )
    with pytest.raises(UsageError, match=r"both is defined twice: .*halve/op\.py and .*rms/op\.py"):
        find("both")


@pytest.mark.parametrize("place", ["elementwise/double", "norm/halve"])
def test_a_module_of_the_name_does_not_hide_that_it_is_defined_twice(tree, place: str) -> None:
    text = (tree.root / "kernels/elementwise/halve/op.py").read_text()
    tree.write(f"kernels/{place}/op.py", text)
    with pytest.raises(UsageError, match="halve is defined twice: ") as caught:
        find("halve")
    assert f"{place}/op.py" in caught.value.message
    assert "elementwise/halve/op.py" in caught.value.message
    assert [folder.module for folder in find("elementwise/halve")] == ["halve"]


def test_an_op_that_is_being_edited_does_not_hide_the_others(tree) -> None:
    tree.op("norm", "rms")
    tree.write("kernels/norm/rms/op.py", "def rms(:\n")
    found = find_function("halve", tree.project)
    assert found is not None
    assert found.module == "halve"


def test_no_names_select_every_op_of_the_projects(tree) -> None:
    assert [folder.module for folder in select([], [tree.project])] == ["halve"]
    assert "scale" in [folder.module for folder in select([])]


def test_what_is_named_twice_is_selected_once(tree) -> None:
    assert len(select(["halve", "elementwise/halve", "my_kernels/halve"])) == 1


def test_names_are_all_that_find_understands(tree) -> None:
    tree.write("kernels/norm/rms/op.py", "def rms(:\n")
    assert names([tree.project]) == ["elementwise", "halve", "norm", "rms"]


def test_eighty_modules_are_read_in_under_100_ms(tree) -> None:
    for index in range(80):
        tree.op(f"family{index // 8}", f"op{index}")

    def seconds() -> float:
        start = time.process_time()
        for folder in folders(Project.at()):
            folder.declarations()
        return time.process_time() - start

    # Why the best: the first reads the disk, and another process may take the caches.
    assert min(seconds() for _ in range(5)) < 0.1
