from __future__ import annotations

import zipfile
from pathlib import Path

import pytest


def test_all_skills_go_to_the_project(fictl, repo: Path) -> None:
    answer = fictl("skills", "install")
    assert answer.code == 0
    assert answer.out.splitlines()[0] == "  .agents/skills/add-cuda-kernel/SKILL.md"
    assert answer.out.splitlines()[-1] == "  8 files"
    assert (repo / ".agents/skills/port-kernel/SKILL.md").is_file()


def test_a_second_time_there_is_nothing_to_do(fictl, repo: Path) -> None:
    fictl("skills", "install")
    answer = fictl("skills", "install")
    assert (answer.code, answer.out) == (0, "  everything is there already\n")


def test_one_goes_where_it_is_told(fictl, repo: Path) -> None:
    assert fictl("skills", "install", "port-kernel", "--target", "here").code == 0
    found = [path for path in Path("here").rglob("*") if path.is_file()]
    assert found == [Path("here/port-kernel/SKILL.md")]


def test_an_edited_one_is_kept_without_force(fictl, repo: Path) -> None:
    path = repo / ".agents/skills/port-kernel/SKILL.md"
    fictl("skills", "install", "port-kernel")
    path.write_text("mine\n", encoding="utf-8")
    answer = fictl("skills", "install")
    assert answer.code == 2
    assert ".agents/skills/port-kernel/SKILL.md is there already" in answer.err
    assert path.read_text(encoding="utf-8") == "mine\n"
    assert not (repo / ".agents/skills/profile-kernel").exists()
    assert fictl("skills", "install", "--force").code == 0
    assert path.read_text(encoding="utf-8").startswith("---\nname: port-kernel\n")


def test_a_dry_run_writes_nothing(fictl, repo: Path) -> None:
    answer = fictl("skills", "install", "--dry-run")
    assert answer.out.splitlines()[-1] == "  8 files would be written"
    assert not (repo / ".agents").exists()


def test_a_diff_is_a_patch_and_writes_nothing(fictl, repo: Path) -> None:
    answer = fictl("skills", "install", "port-kernel", "--diff")
    assert "+++ b/.agents/skills/port-kernel/SKILL.md" in answer.out
    assert not (repo / ".agents").exists()


def test_as_json_it_says_what_changed(fictl, repo: Path) -> None:
    data = fictl("skills", "install", "port-kernel", "--json").document["data"]
    path = ".agents/skills/port-kernel/SKILL.md"
    assert (data["written"], data["files"]) == (True, [{"path": path, "change": "new"}])


def test_one_is_packed(fictl, repo: Path) -> None:
    assert fictl("skills", "install", "port-kernel", "--zip", "port.zip").code == 0
    assert zipfile.ZipFile("port.zip").namelist() == ["port-kernel/SKILL.md"]


@pytest.mark.parametrize("names", [(), ("port-kernel", "profile-kernel")])
def test_a_zip_takes_one(fictl, repo: Path, names: tuple[str, ...]) -> None:
    answer = fictl("skills", "install", *names, "--zip", "x.zip")
    assert answer.code == 2
    assert "--zip packs one skill" in answer.err


def test_a_zip_goes_with_no_target(fictl, repo: Path) -> None:
    words = ("port-kernel", "--zip", "x.zip", "--target", "here")
    assert fictl("skills", "install", *words).code == 2


def test_a_misspelt_skill_is_a_usage_error(fictl, repo: Path) -> None:
    answer = fictl("skills", "install", "prot-kernel")
    assert answer.code == 2
    assert "did you mean 'port-kernel'?" in answer.err


@pytest.mark.parametrize(
    ("flag", "folder"),
    [
        ("--claude", ".claude/skills"),
        ("--codex", ".agents/skills"),
        ("--copilot", ".github/skills"),
        ("--cursor", ".cursor/skills"),
        ("--gemini", ".gemini/skills"),
        ("--opencode", ".opencode/skills"),
    ],
)
def test_an_agent_gets_them_where_it_looks(fictl, repo: Path, flag: str, folder: str) -> None:
    data = fictl("skills", "install", "port-kernel", flag, "--dry-run", "--json").document["data"]
    assert [file["path"] for file in data["files"]] == [f"{folder}/port-kernel/SKILL.md"]
    assert not data["written"]
    assert sorted(path.name for path in repo.iterdir()) == ["fictl.toml", "kernels"]


def test_several_agents_get_them_each(fictl, repo: Path) -> None:
    answer = fictl("skills", "install", "port-kernel", "--claude", "--gemini")
    assert answer.out.splitlines()[-1] == "  2 files"
    for folder in (".claude", ".gemini"):
        assert (repo / folder / "skills/port-kernel/SKILL.md").is_file()


def test_a_user_gets_them_for_every_project(fictl, repo: Path, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    assert fictl("skills", "install", "port-kernel", "--copilot", "--user").code == 0
    assert (tmp_path / "home/.copilot/skills/port-kernel/SKILL.md").is_file()
    assert fictl("skills", "install", "port-kernel", "--user").code == 0
    assert (tmp_path / "home/.agents/skills/port-kernel/SKILL.md").is_file()
    assert not (repo / ".agents").exists()


@pytest.mark.parametrize("word", ["--claude", "--user"])
@pytest.mark.parametrize("other", [("--target", "here"), ("--zip", "x.zip")])
def test_a_target_of_its_own_goes_with_no_agent(fictl, repo: Path, word: str, other) -> None:
    assert fictl("skills", "install", "port-kernel", word, *other).code == 2


def test_a_folder_of_an_agent_that_leads_out_of_the_project_is_not_written(
    fictl, repo: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (repo / ".claude").symlink_to(tmp_path / "elsewhere")
    for words in (("--dry-run",), ()):
        answer = fictl("skills", "install", "port-kernel", "--claude", *words)
        assert answer.code == 2
        assert ".claude" in answer.err
    assert [*(tmp_path / "elsewhere").iterdir()] == []
