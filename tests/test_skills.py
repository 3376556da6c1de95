"""Every command of a skill does its work in a fresh project, on a GPU too where there is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.scaffold.skills import Skill, skills

from .pages import Block, Reader

SKILLS = [pytest.param(skill, id=skill.name) for skill in skills()]
NEEDS_NO_PROJECT = {"add-cuda-kernel"}

# One architecture: pages compile for all that a project begins with.
PREPARATION = """
fictl init my_kernels && cd my_kernels
sed -i 's/^archs = "[^"]*"/archs = "9.0a"/' fictl.toml
fictl new-op my_op --input x:n --scalar factor:float=2.0 --expr "x * factor"
git init --quiet && git add --all
git -c user.name=a -c user.email=a@example.com commit --quiet --message "an op"
cat > program.py <<'END'
import torch
from fictl.project import mount
mount()
import my_kernels
x = torch.randn(1000, device="cuda" if torch.cuda.is_available() else "cpu")
my_kernels.ops.my_op(x, 2.0)
END
"""


@pytest.fixture
def home(tmp_path: Path, users_cache: None) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path


@pytest.mark.needs_nvcc
@pytest.mark.timeout(900)
@pytest.mark.parametrize("skill", SKILLS)
def test_every_command_of_a_skill_does_its_work(
    skill: Skill, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    monkeypatch.setenv("FICTL_EMU_SCHEDULE", "random")  # One order of threads: pages have all.
    follow(skill, Reader(home, has_gpu=False))


@pytest.mark.needs_gpu
@pytest.mark.needs_nvcc
@pytest.mark.timeout(900)
@pytest.mark.parametrize("skill", SKILLS)
def test_every_command_of_a_skill_does_its_work_on_a_gpu(skill: Skill, home: Path) -> None:
    follow(skill, Reader(home, has_gpu=True))


def follow(skill: Skill, reader: Reader) -> None:
    if skill.name not in NEEDS_NO_PROJECT:
        reader.follow(Block("bash", PREPARATION, "", 1))
    reader.read(skill.folder / "SKILL.md")


@pytest.mark.parametrize("skill", SKILLS)
def test_a_skill_is_short_and_says_when_to_use_it(skill: Skill) -> None:
    text = (skill.folder / "SKILL.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    assert "Use " in skill.description
    assert len(skill.description) <= 300
