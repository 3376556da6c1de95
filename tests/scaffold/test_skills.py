from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.scaffold.skills import pack, plan_install, read, select_skills, skills, write_zip

NAMES = [
    "add-cuda-kernel",
    "benchmark-kernel",
    "debug-cuda-crash",
    "port-kernel",
    "profile-kernel",
    "share-builds",
    "work-offline",
    "write-solution",
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_skills_that_fictl_ships() -> None:
    assert [skill.name for skill in skills()] == NAMES


def test_a_skill_is_chosen_by_name_and_once() -> None:
    assert [skill.name for skill in select_skills(["port-kernel", "port-kernel"])] == [
        "port-kernel"
    ]


def test_without_names_all_are_chosen() -> None:
    assert select_skills([]) == skills()


def test_a_misspelt_skill_is_an_error_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="there is no skill 'debug-cuda-crsh'") as caught:
        select_skills(["debug-cuda-crsh"])
    assert "did you mean 'debug-cuda-crash'?" in caught.value.hint


@pytest.mark.parametrize(
    "text",
    ["# No front matter\n", "---\nname: other\ndescription: x\n---\n", "---\nname: mine\n---\n"],
)
def test_a_folder_without_its_name_and_purpose_is_no_skill(text: str, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="does not begin with its name"):
        read(folder)


def test_skills_go_into_the_working_folder_where_there_is_no_project(here: Path) -> None:
    plan = plan_install(select_skills(["port-kernel"]))
    assert [*plan.files] == [here / ".agents/skills/port-kernel/SKILL.md"]


def test_skills_go_to_the_root_of_the_project(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "fictl.toml").write_text('name = "my_kernels"\n', encoding="utf-8")
    (here / "below").mkdir()
    monkeypatch.chdir(here / "below")
    plan = plan_install(select_skills(["port-kernel"]))
    assert plan.root == here
    assert [*plan.files] == [here / ".agents/skills/port-kernel/SKILL.md"]


def test_a_target_is_taken_as_it_is(here: Path) -> None:
    plan = plan_install(select_skills(["port-kernel"]), here / "skills")
    assert [*plan.files] == [here / "skills/port-kernel/SKILL.md"]


def test_what_is_installed_leaves_nothing_to_do(here: Path) -> None:
    plan = plan_install(skills())
    for path, text in plan.files.items():
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    assert plan_install(skills()).changes() == ()


def test_an_edited_skill_is_not_written_over(here: Path) -> None:
    plan = plan_install(select_skills(["port-kernel"]))
    (path,) = plan.files
    path.parent.mkdir(parents=True)
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match=r"port-kernel/SKILL\.md is there already"):
        plan.refuse_overwriting()


def test_a_zip_holds_the_folder_of_the_skill() -> None:
    (skill,) = select_skills(["port-kernel"])
    with zipfile.ZipFile(io.BytesIO(pack(skill))) as archive:
        assert archive.namelist() == ["port-kernel/SKILL.md"]
        assert archive.read("port-kernel/SKILL.md").decode() == skill.files()["SKILL.md"]


def test_the_same_skill_packs_to_the_same_bytes() -> None:
    (skill,) = select_skills(["port-kernel"])
    assert pack(skill) == pack(skill)


def test_a_zip_is_written_once(here: Path) -> None:
    (skill,) = select_skills(["port-kernel"])
    path = here / "port.zip"
    assert (write_zip(skill, path), write_zip(skill, path)) == (True, False)
    assert [*here.iterdir()] == [path]


def test_a_dry_run_writes_no_zip(here: Path) -> None:
    (skill,) = select_skills(["port-kernel"])
    assert write_zip(skill, here / "port.zip", dry_run=True)
    assert [*here.iterdir()] == []


def test_another_file_is_written_over_by_force_only(here: Path) -> None:
    (skill,) = select_skills(["port-kernel"])
    path = here / "port.zip"
    path.write_bytes(b"mine")
    with pytest.raises(UsageError, match="is there already"):
        write_zip(skill, path)
    assert write_zip(skill, path, overwrite=True)
    assert zipfile.is_zipfile(path)


def test_a_zip_that_is_a_folder_is_an_error(here: Path) -> None:
    (skill,) = select_skills(["port-kernel"])
    with pytest.raises(UsageError, match=f"cannot write {here}"):
        write_zip(skill, here)


@pytest.mark.skipif(os.getuid() == 0, reason="root may write anywhere")
def test_a_folder_that_is_not_ours_is_an_error(here: Path) -> None:
    (skill,) = select_skills(["port-kernel"])
    here.chmod(0o555)
    with pytest.raises(UsageError, match="Permission denied"):
        write_zip(skill, here / "port.zip")
