"""Name, version and licence of a project's sources: from its files, from what is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.project import Project
from fictl.ship.source_package import checked_name, checked_version, source_package
from fictl.version import VERSION


def _project(root: Path, pyproject: str = "") -> Project:
    root.mkdir(exist_ok=True)
    (root / "fictl.toml").write_text('name = "my_kernels"\n', encoding="utf-8")
    if pyproject:
        (root / "pyproject.toml").write_text(pyproject, encoding="utf-8")
    project = Project.of(root)
    assert project is not None
    return project


def test_the_shipped_project_is_fictl_itself_with_its_licence() -> None:
    package = source_package(Project.shipped())
    assert (package.name, package.version, package.license) == ("fictl", VERSION, "Apache-2.0")
    assert b"Apache License" in package.license_files["LICENSE"]


def test_a_users_project_is_what_its_pyproject_says(tmp_path: Path) -> None:
    text = '[project]\nname = "my-kernels"\nversion = "1.2"\nlicense = "MIT OR Apache-2.0"\n'
    project = _project(tmp_path, text)
    (tmp_path / "LICENSE.txt").write_text("mine")
    package = source_package(project)
    assert (package.name, package.version) == ("my-kernels", "1.2")
    assert (package.license, package.license_files) == (
        "MIT OR Apache-2.0",
        {"LICENSE.txt": b"mine"},
    )


def test_without_a_pyproject_it_has_the_projects_name_and_no_version(tmp_path: Path) -> None:
    package = source_package(_project(tmp_path))
    assert (package.name, package.version, package.license) == ("my-kernels", "", "")


def test_a_pyproject_above_the_project_is_not_its_own(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "other"\nversion = "9"\n')
    assert source_package(_project(tmp_path / "below")).name == "my-kernels"


@pytest.mark.parametrize("text", ["[project]\nname = 3\n", "[tool.x]\n", "project = 3\n"])
def test_a_pyproject_without_a_name_says_nothing(tmp_path: Path, text: str) -> None:
    assert source_package(_project(tmp_path, text)).name == "my-kernels"


def test_a_version_that_a_tool_makes_is_asked_of_what_is_installed(tmp_path: Path) -> None:
    project = _project(tmp_path, '[project]\nname = "pytest"\ndynamic = ["version"]\n')
    assert source_package(project).version == pytest.__version__


def test_an_older_form_of_a_licence_is_no_expression(tmp_path: Path) -> None:
    text = '[project]\nname = "a"\nlicense = { text = "MIT" }\n'
    assert source_package(_project(tmp_path, text)).license == ""


def test_a_licence_with_a_line_of_its_own_cannot_add_a_header(tmp_path: Path) -> None:
    text = '[project]\nname = "a"\nlicense = "MIT\\nRequires-Dist: evil"\n'
    assert source_package(_project(tmp_path, text)).license == ""


def test_licence_files_elsewhere_are_not_packed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    patterns = f'["../secret", "{tmp_path}/secret", "LICENSE", "LINK", "linked/secret"]'
    text = f'[project]\nname = "a"\nlicense-files = {patterns}\n'
    project = _project(tmp_path / "p", text)
    (tmp_path / "p" / "LICENSE").write_text("mine")
    (tmp_path / "p" / "LINK").symlink_to(tmp_path / "secret")
    (tmp_path / "p" / "linked").symlink_to(tmp_path)
    assert source_package(project).license_files == {"LICENSE": b"mine"}


def test_licence_files_in_folders_keep_their_places(tmp_path: Path) -> None:
    text = '[project]\nname = "a"\nlicense-files = ["LICENSES/*"]\n'
    project = _project(tmp_path, text)
    (tmp_path / "LICENSES").mkdir()
    (tmp_path / "LICENSES" / "MIT.txt").write_text("mine")
    assert source_package(project).license_files == {"LICENSES/MIT.txt": b"mine"}


def test_an_installed_package_brings_its_licence_files() -> None:
    from fictl.ship.source_package import _of_installed

    package = _of_installed("packaging")
    assert package is not None
    assert any("LICENSE" in name for name in package.license_files)


def test_a_broken_pyproject_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"pyproject.toml: .*line 1"):
        source_package(_project(tmp_path, "[project\n"))


@pytest.mark.parametrize("name", ["", "a b", "a\nb", "../a", "-a", "a-", "é", "a" * 200])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="is not the name of a package"):
        checked_name(name)


@pytest.mark.parametrize("version", ["", "one", "1.0+cu13", "1/2", "v1", "1.0-1", "1..2"])
def test_a_version_that_is_none_is_refused(version: str) -> None:
    with pytest.raises(UsageError, match="version"):
        checked_version(version)


@pytest.mark.parametrize("version", ["1", "1.2.3", "2026.11.22", "1.0rc1", "1.0.post1", "1!2.dev3"])
def test_versions_in_their_normal_form_are_taken(version: str) -> None:
    assert checked_version(version) == version
