"""fictl init: what it shows, what it writes, and that its project is one to every command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from fictl.cli import COMMANDS
from fictl.paths import PACKAGE, same_packages
from fictl.scaffold.plan.undo import last

FILES = 12
EVERY_OP = [["build"], ["test"], ["sanitize"], ["aot", "build", "--out", "aot"]]


@pytest.fixture
def fresh(fictl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that has no op yet; the working folder is there."""
    assert fictl("init", str(tmp_path / "mine")).code == 0
    monkeypatch.chdir(tmp_path / "mine")
    return tmp_path / "mine"


def test_files_are_shown_and_what_comes_next(
    fictl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = fictl("init", "a/mine")
    assert answer.code == 0
    *files, last = answer.out.splitlines()
    assert len(files) == FILES
    assert files[0].split()[0] == "fictl.toml"
    assert last.startswith("  12 files · next: cd a/mine      fictl new-op")
    assert (tmp_path / "a" / "mine" / "fictl.toml").is_file()


def test_here_needs_no_change_of_folder(
    fictl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "next: fictl new-op" in fictl("init", "--name", "mine").out


@pytest.mark.parametrize("name", ["fused3", "topk2", "my_kernels"])
def test_the_package_is_called_as_the_folder(fictl, tmp_path: Path, name: str) -> None:
    answer = fictl("init", str(tmp_path / name), "--dry-run")
    assert f"{name}/__init__.py" in answer.out or f"{name}/\n" in answer.out
    assert "guess" not in answer.out


def test_a_package_of_another_name_than_the_folder_is_said(fictl, tmp_path: Path) -> None:
    answer = fictl("init", str(tmp_path / "My-Kernels3"), "--dry-run")
    said = "guess: the package is called my_kernels3, not My-Kernels3: import my_kernels3"
    assert said in answer.out
    data = fictl("init", str(tmp_path / "My-Kernels3"), "--json").document["data"]
    assert data["project"] == "my_kernels3"
    assert data["guesses"][0]["about"] == ["my_kernels3"]
    assert "guess" not in fictl("init", str(tmp_path / "My-Kernels3")).out


def test_a_name_that_is_taken_is_said(fictl, tmp_path: Path) -> None:
    answer = fictl("init", str(tmp_path / "json"), "--dry-run")
    assert "the package is called json_kernels, json is taken: import json_kernels" in answer.out


def test_a_second_time_nothing_is_lacking(fictl, fresh: Path) -> None:
    answer = fictl("init")
    assert answer.code == 0
    assert answer.out == f"  mine in {fresh} lacks nothing\n"


def test_a_second_time_leaves_what_can_be_undone(fictl, fresh: Path) -> None:
    before = last(fresh)
    fictl("init")
    assert before == last(fresh)
    assert before


def test_a_dry_run_writes_nothing(fictl, tmp_path: Path) -> None:
    answer = fictl("init", str(tmp_path / "mine"), "--dry-run")
    assert answer.out.count("  new\n") == FILES
    assert not (tmp_path / "mine").exists()


def test_a_diff_is_a_patch_and_writes_nothing(fictl, tmp_path: Path) -> None:
    answer = fictl("init", str(tmp_path / "mine"), "--diff")
    assert '+name = "mine"' in answer.out
    assert answer.out.count("new file mode") == FILES
    assert not (tmp_path / "mine").exists()


def test_json_has_the_files_and_what_is_left_to_do(fictl, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "acme"\n', encoding="utf-8")
    document = fictl("init", str(tmp_path), "--name", "mine", "--json").document
    assert (document["schema"], document["ok"]) == ("fictl.init/1", True)
    data = document["data"]
    assert (data["project"], data["root"], data["written"]) == ("mine", str(tmp_path), True)
    assert data["files"][0] == {"path": "pyproject.toml", "change": "changed"}
    assert len(data["advice"]) == 2


def test_what_is_left_to_the_owner_is_shown(fictl, tmp_path: Path) -> None:
    (tmp_path / "setup.py").touch()
    said = fictl("init", str(tmp_path), "--name", "mine").out
    assert "left to you: to `import mine` from an installation: a package mine/__init__.py" in said


def test_force_renews_what_was_edited(fictl, fresh: Path) -> None:
    (fresh / "README.md").write_text("edited\n", encoding="utf-8")
    assert "lacks nothing" in fictl("init").out
    assert "README.md" in fictl("init", "--force").out
    assert (fresh / "README.md").read_text(encoding="utf-8").startswith("# mine\n")


def test_hooks_and_workflows_run_commands_that_there_are(fictl, fresh: Path) -> None:
    workflow, hooks = ".github/workflows/kernels.yml", ".pre-commit-config.yaml"
    files = (fresh / workflow, fresh / hooks, PACKAGE.parent / ".pre-commit-hooks.yaml")
    for path in files:
        text = path.read_text(encoding="utf-8")
        commands = re.findall(r"(?:run|entry): fictl (\S+)", text)
        assert commands
        assert {*commands} <= {*COMMANDS}


def _workflow(folder: Path) -> dict[str, Any]:
    text = (folder / ".github" / "workflows" / "kernels.yml").read_text(encoding="utf-8")
    document: dict[str, Any] = yaml.safe_load(text)
    return document


def test_the_workflow_shares_builds_once_there_is_a_key(fictl, fresh: Path) -> None:
    """Every step but the question for the key is off without one, and only two steps see it."""
    jobs = _workflow(fresh)["jobs"]
    assert [*jobs] == ["kernels", "share"]
    assert "secrets." not in str(jobs["kernels"])
    asks, *steps = jobs["share"]["steps"]
    assert asks["id"] == "signing"
    assert all(step["if"].startswith("steps.signing.outputs.ready") for step in steps)
    seeing = [step for step in (asks, *steps) if "secrets.FICTL_SIGNING_KEY" in str(step)]
    assert seeing == [asks, steps[-1]]
    assert "vars.FICTL_REMOTE != ''" in steps[-1]["if"]
    assert "github.event_name == 'push'" in jobs["share"]["if"]
    runs = [step["run"] for step in steps if "run" in step]
    assert runs[1:3] == ["fictl build", "fictl aot wheel --out dist"]


def test_the_workflow_keeps_what_was_found(fictl, fresh: Path) -> None:
    """Also of a run that failed: reports as files, and findings beside the lines of a change."""
    job = _workflow(fresh)["jobs"]["kernels"]
    assert job["permissions"] == {"contents": "read", "security-events": "write"}
    after = job["steps"][-2:]
    assert all(step["if"].startswith("always()") for step in after)
    written = {word for step in job["steps"] for word in str(step.get("run", "")).split()}
    assert {"test.xml", "sanitize.xml", after[1]["with"]["sarif_file"]} <= written


def test_a_project_that_is_not_packaged_names_the_version_of_its_wheels(
    fictl, tmp_path: Path
) -> None:
    (tmp_path / "setup.py").touch()
    assert fictl("init", str(tmp_path), "--name", "mine").code == 0
    runs = str(_workflow(tmp_path)["jobs"]["share"])
    assert "fictl aot wheel --out dist --version 0.${{ github.run_number }}" in runs


@pytest.mark.parametrize("key", ["", "untrusted comment: a\nRWQ="])
def test_the_steps_with_the_key_hand_it_to_nobody_else(
    fictl, fresh: Path, tmp_path: Path, key: str, program
) -> None:
    """As the CI runs them, in its shell, with a `fictl` that looks around."""
    asks, *_, pushes = _workflow(fresh)["jobs"]["share"]["steps"]
    program("fictl", 'stat -c %a "$FICTL_SIGNING_KEY"; cat "$FICTL_SIGNING_KEY"; echo "[$KEY] $*"')
    outputs, file = tmp_path / "outputs", tmp_path / "fictl-signing.key"
    env = {**os.environ, "KEY": key, "GITHUB_OUTPUT": str(outputs), "FICTL_SIGNING_KEY": str(file)}
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
    subprocess.run([*shell, asks["run"]], env=env, check=True)
    assert outputs.read_text() == f"ready={'yes' if key else ''}\n"
    if key:
        done = subprocess.run([*shell, pushes["run"]], env=env, capture_output=True, text=True)
        assert done.stdout.splitlines() == ["600", *key.splitlines(), "[] cache push"]
        assert done.returncode == 0
        assert not file.exists()


@pytest.mark.parametrize("page", ["README.md", "AGENTS.md"])
def test_pages_name_commands_that_there_are(fictl, fresh: Path, page: str) -> None:
    text = (fresh / page).read_text(encoding="utf-8")
    commands = re.findall(r"^fictl ([a-z-]+)|`fictl ([a-z-]+)", text, re.MULTILINE)
    assert commands
    assert {first or second for first, second in commands} <= {*COMMANDS}


def test_a_bad_name_is_a_usage_error(fictl, tmp_path: Path) -> None:
    answer = fictl("init", str(tmp_path), "--name", "my-kernels")
    assert answer.code == 2
    assert "'my-kernels' cannot name a project" in answer.err
    assert not list(tmp_path.iterdir())


def test_it_loads_no_torch_and_no_git(fictl, fresh: Path) -> None:
    code = (
        "import sys\n"
        "from fictl.cli import main\n"
        "main(['init', 'another', '--dry-run'])\n"
        "print(sorted({'torch', 'git', 'pydantic'} & set(sys.modules)))\n"
    )
    env = {**os.environ, **same_packages()}
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, cwd=fresh.parent, env=env, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


@pytest.mark.parametrize("words", EVERY_OP)
def test_a_project_without_ops_is_told_how_to_make_one(fictl, fresh: Path, words) -> None:
    answer = fictl(*words)
    assert answer.code == 0, answer.err
    assert answer.out == "mine has no op yet; `fictl new-op NAME` makes one\n"


def test_a_project_without_ops_keeps_every_rule(fictl, fresh: Path) -> None:
    answer = fictl("check")
    assert (answer.code, answer.out) == (0, "✓ every rule holds\n")
