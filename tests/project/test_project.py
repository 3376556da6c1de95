from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.paths import data_root
from fictl.project import Project, folders


def test_the_shipped_project_is_read_from_its_own_file() -> None:
    project = Project.shipped()
    assert (project.name, project.package) == ("fictl", "fictl.kernels")
    assert project.kernels == data_root("kernels") == project.root
    assert project.include_dirs == (project.kernels / "include", project.kernels)
    assert project.is_shipped


def test_a_project_is_found_from_any_folder_below_it(tree) -> None:
    below = tree.root / "kernels" / "elementwise" / "halve"
    assert Project.at(below) == tree.project
    assert tree.project.kernels == tree.root / "kernels"
    assert tree.project.tests == tree.root / "tests" / "kernels"


def test_the_working_folder_is_where_the_search_starts(
    tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tree.root / "kernels")
    assert Project.at() == tree.project


def test_a_project_is_found_through_pyproject_too(tree) -> None:
    (tree.root / "fictl.toml").unlink()
    tree.write("pyproject.toml", '[tool.fictl]\nname = "other"\nkernels = "kernels"\n')
    assert Project.at(tree.root / "kernels").name == "other"


def test_the_nearest_project_wins(tree) -> None:
    tree.write("vendored/fictl.toml", 'name = "inner"\n')
    assert Project.at(tree.root / "vendored").name == "inner"


def test_a_pyproject_of_others_is_passed_by(tree) -> None:
    tree.write("kernels/pyproject.toml", '[project]\nname = "other"\n')
    assert Project.at(tree.root / "kernels") == tree.project


def test_a_folder_of_our_file_s_name_is_no_project_and_is_not_passed_by(tmp_path) -> None:
    (tmp_path / "fictl.toml").mkdir()
    with pytest.raises(UsageError, match=r"fictl\.toml cannot be read: Is a directory"):
        Project.of(tmp_path)
    (tmp_path / "fictl.toml").rmdir()
    (tmp_path / "pyproject.toml").mkdir()
    assert Project.of(tmp_path) is None


def test_outside_of_any_project_it_is_the_shipped_one(tmp_path: Path) -> None:
    assert Project.at(tmp_path) == Project.shipped()


def test_users_see_our_headers_after_their_own(tree) -> None:
    shipped = Project.shipped()
    assert tree.project.include_dirs == (
        tree.root / "kernels" / "include",
        tree.root / "kernels",
        *shipped.include_dirs,
    )


def test_our_name_is_taken(tree) -> None:
    tree.write("fictl.toml", 'name = "fictl"\n')
    with pytest.raises(UsageError, match=r"fictl\.toml: the name 'fictl' is taken"):
        Project.at()


def test_an_installed_project_is_found_by_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "acme_kernels"
    (package / "norm" / "acme_norm").mkdir(parents=True)
    (package / "norm" / "acme_norm" / "op.py").touch()
    (package / "fictl.toml").write_text('name = "acme_kernels"\nkernels = "."\n')
    metadata = tmp_path / "site" / "acme-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[fictl.projects]\nacme = acme_kernels\n")
    monkeypatch.syspath_prepend(tmp_path / "site")
    project = Project.all()[-1]
    assert project.name == "acme_kernels"
    assert [folder.module for folder in folders(project)] == ["acme_norm"]


def test_a_project_and_its_wheel_are_one(tree, tmp_path: Path, monkeypatch) -> None:
    package = tmp_path / "site" / "my_kernels"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "fictl.toml").write_text('name = "my_kernels"\n')
    metadata = tmp_path / "site" / "my-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: my\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[fictl.projects]\nmy_kernels = my_kernels\n")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.chdir(tree.root)
    roots = [project.root for project in Project.all() if project.name == "my_kernels"]
    assert roots == [tree.root]


def test_a_project_that_is_installed_in_place_lies_around_its_package(
    tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.write("my_kernels/__init__.py", "")
    tree.write("my.dist-info/METADATA", "Metadata-Version: 2.1\nName: my\nVersion: 1.0\n")
    tree.write("my.dist-info/entry_points.txt", "[fictl.projects]\nmy_kernels = my_kernels\n")
    monkeypatch.syspath_prepend(tree.root)
    monkeypatch.chdir(tmp_path.parent)
    assert Project.all()[-1] == tree.project


def test_own_templates_lie_where_the_file_says(tree) -> None:
    assert tree.project.templates is None
    tree.write("fictl.toml", 'name = "my_kernels"\n[templates]\nop = "mine/op"\n')
    assert tree.project.templates == tree.root / "mine" / "op"
