from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import SetupError, UsageError
from fictl.paths import data_root
from fictl.project import Project
from fictl.scaffold.plan.write import apply
from fictl.scaffold.project.init import InitPlan, plan_init

PYPROJECT = '[build-system]\nrequires = ["setuptools"]\n\n[project]\nname = "acme"\nversion = "1"\n'


def made(plan: InitPlan) -> list[str]:
    return [plan.shown(change.path) for change in plan.changes()]


def snapshot(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def acme(tmp_path: Path) -> Path:
    """A repository that was there first: a package, a build, a README."""
    root = tmp_path / "acme"
    (root / "acme").mkdir(parents=True)
    (root / "acme" / "__init__.py").touch()
    (root / "README.md").write_text("ours\n", encoding="utf-8")
    (root / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    return root


def test_every_template_is_written(tmp_path: Path) -> None:
    plan = plan_init(tmp_path / "mine")
    tree = data_root("templates") / "project"
    templates = [path for path in tree.rglob("*") if path.is_file()]
    assert len(made(plan)) == len(templates)
    assert not (tmp_path / "mine").exists()


def test_a_fresh_project_is_a_project(tmp_path: Path) -> None:
    apply(plan_init(tmp_path / "my-kernels", archs="8.0 10.0f"), "init")
    project = Project.at(tmp_path / "my-kernels")
    assert (project.name, project.package, project.archs) == (
        "my_kernels",
        "my_kernels",
        "8.0 10.0f",
    )
    assert project.kernels.is_dir()


def test_a_second_time_nothing_is_missing(tmp_path: Path) -> None:
    apply(plan_init(tmp_path / "mine"), "init")
    again = plan_init(tmp_path / "mine")
    assert (made(again), again.advice) == ([], ())


def test_what_was_deleted_comes_back(tmp_path: Path) -> None:
    apply(plan_init(tmp_path / "mine"), "init")
    (tmp_path / "mine" / ".clang-format").unlink()
    assert made(plan_init(tmp_path / "mine")) == [".clang-format"]


def test_force_renews_files_but_those_of_the_build(tmp_path: Path) -> None:
    root = tmp_path / "mine"
    apply(plan_init(root), "init")
    for name in ("README.md", "pyproject.toml", "fictl.toml"):
        with (root / name).open("a", encoding="utf-8") as file:
            file.write("\n# mine\n")
    assert made(plan_init(root)) == []
    assert made(plan_init(root, overwrite=True)) == ["README.md"]


def test_a_repository_s_files_stay_as_they_are(acme: Path) -> None:
    before = snapshot(acme)
    apply(plan_init(acme), "init")
    after = snapshot(acme)
    changed = [path.name for path, text in before.items() if after[path] != text]
    assert changed == ["pyproject.toml"]
    assert (acme / "pyproject.toml").read_text(encoding="utf-8").startswith(PYPROJECT)


def test_a_repository_s_own_package_keeps_its_name(acme: Path) -> None:
    assert plan_init(acme).name == "acme_kernels"
    with pytest.raises(UsageError, match=r"'acme' is taken: .*acme/__init__\.py is a package"):
        plan_init(acme, "acme")


def test_a_repository_becomes_a_project_by_a_table(acme: Path) -> None:
    apply(plan_init(acme, archs="9.0a"), "init")
    project = Project.at(acme)
    assert (project.name, project.archs) == ("acme_kernels", "9.0a")
    assert not (acme / "fictl.toml").exists()
    assert made(plan_init(acme)) == []


def test_a_repository_s_line_ends_are_kept(acme: Path) -> None:
    path = acme / "pyproject.toml"
    path.write_bytes(b'[project]\r\nname = "acme"')
    apply(plan_init(acme), "init")
    assert path.read_bytes().startswith(b'[project]\r\nname = "acme"\r\n\r\n[tool.fictl]\r\n')


def test_what_is_left_to_a_repository_s_owner_is_said(acme: Path) -> None:
    packaging, discovery = plan_init(acme).advice
    assert "fictl.projects" in packaging
    assert 'include = ["acme*"]' in discovery


@pytest.mark.parametrize(
    "told",
    [
        '[tool.setuptools]\npackages = ["acme"]\n',
        '[tool.setuptools.packages.find]\ninclude = ["acme"]\n',
    ],
)
def test_a_build_that_names_its_packages_is_not_told_to(acme: Path, told: str) -> None:
    (acme / "pyproject.toml").write_text(PYPROJECT + told, encoding="utf-8")
    assert len(plan_init(acme).advice) == 1


def test_another_build_backend_is_not_told_about_setuptools(acme: Path) -> None:
    text = PYPROJECT.replace("setuptools", "hatchling")
    (acme / "pyproject.toml").write_text(text, encoding="utf-8")
    assert len(plan_init(acme).advice) == 1


def test_a_setup_py_gets_a_file_of_ours_beside_it(tmp_path: Path) -> None:
    (tmp_path / "setup.py").touch()
    plan = plan_init(tmp_path, "mine")
    assert made(plan)[0] == "fictl.toml"
    assert "pyproject.toml" not in made(plan)
    assert len(plan.advice) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[project\n", r"pyproject\.toml: not valid TOML"),
        ("tool = { ruff = {} }\n", r"no place for a table \[tool\.fictl\]"),
        ("[tool.fictl]\n", r"pyproject\.toml: no name"),
    ],
)
def test_a_pyproject_that_cannot_take_the_table_is_refused(
    acme: Path, text: str, said: str
) -> None:
    (acme / "pyproject.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        plan_init(acme)


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="file is a file"):
        plan_init(tmp_path / "file")


def test_a_file_in_the_way_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kernels").touch()
    with pytest.raises(UsageError, match=r"kernels is a file, and README\.md belongs into"):
        plan_init(tmp_path, "mine")


def test_a_package_called_kernels_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "__init__.py").touch()
    with pytest.raises(UsageError, match="kernels is a Python package already"):
        plan_init(tmp_path, "mine")


def test_kernels_of_a_project_lie_where_its_file_says(tmp_path: Path) -> None:
    text = 'name = "mine"\nkernels = "csrc/cuda"\n'
    (tmp_path / "fictl.toml").write_text(text, encoding="utf-8")
    files = made(plan_init(tmp_path))
    assert "csrc/cuda/README.md" in files
    assert "pyproject.toml" not in files


def test_a_project_within_a_project_is_refused(tmp_path: Path) -> None:
    apply(plan_init(tmp_path / "mine"), "init")
    with pytest.raises(UsageError, match="inner lies in the project mine"):
        plan_init(tmp_path / "mine" / "inner")


def test_fictl_s_own_checkout_is_refused() -> None:
    with pytest.raises(UsageError, match="holds fictl's own kernels"):
        plan_init(data_root("kernels").parent)


@pytest.mark.parametrize("folder", ["class", "kernels", "1st", "ä", "..."])
def test_a_folder_that_cannot_name_a_package_asks_for_a_name(tmp_path: Path, folder: str) -> None:
    with pytest.raises(UsageError, match=r"cannot name a project(?s:.*)--name my_kernels"):
        plan_init(tmp_path / folder)


@pytest.mark.parametrize("name", ["my-kernels", "namespace", "fictl", "_mine"])
def test_a_bad_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=f"'{name}' cannot name a project"):
        plan_init(tmp_path, name)


def test_the_name_of_an_importable_package_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'pytest' is taken: .*is a package(?s:.*)pytest_kernels"):
        plan_init(tmp_path, "pytest")


def test_bad_architectures_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="unknown architecture '9x'"):
        plan_init(tmp_path / "mine", archs="9x")


def test_a_project_s_name_is_not_changed(tmp_path: Path) -> None:
    apply(plan_init(tmp_path / "mine"), "init")
    with pytest.raises(UsageError, match="has name = 'mine' already, not 'other'"):
        plan_init(tmp_path / "mine", "other")


def test_a_project_that_has_no_package_to_install_is_completed(tmp_path: Path) -> None:
    (tmp_path / "fictl.toml").write_text('name = "mine"\n', encoding="utf-8")
    assert {"pyproject.toml", "mine/__init__.py"} <= {*made(plan_init(tmp_path))}


def test_a_folder_that_cannot_be_written_is_named() -> None:
    # Why /proc: root, too, can make nothing there.
    with pytest.raises(SetupError, match="cannot write /proc/mine"):
        apply(plan_init(Path("/proc/mine")), "init")
