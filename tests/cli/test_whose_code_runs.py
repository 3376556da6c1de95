"""Which commands run a project's code, and that none does where the project is somebody else's."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fictl.cli import COMMANDS
from fictl.errors import SetupError
from fictl.paths import data_root
from fictl.project import Project, require_trusted, trusted

PAGE = Path(__file__).parents[2] / "docs" / "projects.md"
_OTHER = 54321
# A way to call every command; those that run code are in the table of docs/projects.md.
_CALLS = (
    "init {out}",
    "new-op fresh --expr x*2",
    "export-op twice {out}/exported",
    "rename-op twice thrice --dry-run",
    "remove-op twice --dry-run",
    "upgrade --dry-run",
    "list",
    "farm check local",
    "compat list rope",
    "farm init --dry-run",
    "farm status",
    "farm up --dry-run",
    "farm down --dry-run",
    "where twice",
    "check",
    "build twice",
    "build twice --dry-run",
    "build twice --time",
    "test twice",
    "bench twice --dry-run",
    "bench twice --device emu",
    "compare a.json b.json",
    "history twice",
    "watch twice --once",
    "tune twice --dry-run",
    "tune twice --device emu",
    "profile twice --tool events --device emu",
    "profile-diff a.json b.json",
    "sanitize twice",
    "inspect twice --arch 9.0a",
    "trace list twice",
    "trace export twice --out {out}",
    "trace check twice",
    "trace run twice",
    "solution export twice --out {out}",
    "dataset export twice --out {out}",
    "dataset collect {out}",
    "warmup record --dry-run -- true",
    "warmup build {out}",
    "debug twice",
    "cache show",
    "cache gc",
    "cache clear twice",
    "cache verify",
    "cache path",
    "cache explain twice",
    "config show",
    "doctor",
    "schema",
    "aot build twice --out {out}",
    "aot verify {out}",
    "aot wheel twice --out {out}",
    "aot sbom {out}",
    "artifacts build frozen twice",
    "artifacts list",
    "artifacts verify",
    "artifacts sbom frozen",
    "artifacts push frozen --to {out}",
    "artifacts pull frozen --from {out}",
    "artifacts mirror {out} {out}",
    "artifacts lock frozen",
    "artifacts lock --check",
    "cache push twice --to {out}",
    "cache pull twice",
    "trust list",
    "compile-commands",
    "skills list",
    "skills install --dry-run",
    "mcp --list",
    "replay {out}",
)
# They run code of a project that has templates of its own, which this one has not.
_BY_TEMPLATES = {"new-op", "upgrade"}
_RUN = """import io, json, os, sys
from contextlib import redirect_stdout, redirect_stderr
from fictl.cli import main
calls, mark = json.loads(sys.argv[1]), sys.argv[2]
for words in calls:
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        code = main(words)
    ran = os.path.exists(mark)
    if ran:
        os.unlink(mark)
    print("DONE", json.dumps([words, code, ran, said.getvalue()[-400:]]), flush=True)
    for name in [name for name in sys.modules if name.split(".")[0] == "tiny"]:
        del sys.modules[name]
"""


@pytest.fixture
def marked(tiny, tmp_path, use_nvcc):
    """The project, each Python file of which leaves a mark when it runs."""
    use_nvcc("13.0")
    for path in [*tiny.rglob("*.py")]:
        path.write_text(path.read_text() + _leaves(tmp_path), encoding="utf-8")
    for path in ("conftest.py", "tests/conftest.py", "kernels/elementwise/_shared.py"):
        (tiny / path).write_text(_leaves(tmp_path), encoding="utf-8")
    return tiny


def _leaves(tmp_path: Path) -> str:
    return f"\nopen({str(tmp_path / 'mark')!r}, 'a').close()\n"


@pytest.fixture
def of_another(marked):
    if os.geteuid():
        pytest.skip("only root can give files to another user")
    for path in (marked, *marked.rglob("*")):
        os.chown(path, _OTHER, _OTHER, follow_symlinks=False)
    return marked


def _said(calls, tmp_path, **variables):
    """(words, code, whether code of the project ran, the end of what was said) of each call."""
    words = [call.format(out=tmp_path / "out").split() for call in calls]
    done = subprocess.run(
        [sys.executable, "-c", _RUN, json.dumps(words), str(tmp_path / "mark")],
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **variables},
        capture_output=True,
        text=True,
        timeout=200,
    )
    found = [json.loads(line[5:]) for line in done.stdout.splitlines() if line[:5] == "DONE "]
    assert len(found) == len(calls), done.stderr
    return found


def _table() -> set[str]:
    text = PAGE.read_text(encoding="utf-8")
    section = text.partition("## Whose code runs")[2].partition("\n## ")[0]
    row = next(line for line in section.splitlines() if line.startswith("| run "))
    return set(re.findall(r"`([^`]+)`", row))


def _name(words) -> str:
    known = [" ".join(words[:2]), words[0]]
    return next((name for name in known if name in _table()), words[0])


def test_every_command_is_called() -> None:
    assert {call.split()[0] for call in _CALLS} == {*COMMANDS} - {"demo"}  # Of fictl's own op.


def test_none_runs_the_code_of_another_user(of_another, tmp_path):
    for words, code, ran, said in _said(_CALLS, tmp_path):
        assert not ran, (words, said)
        assert "internal error" not in said, (words, said)
        if _name(words) in _table() - _BY_TEMPLATES:
            assert code in (1, 2, 3), (words, said)


def test_the_page_names_what_runs_it(marked, tmp_path):
    """Those that need no GPU and no long run; the test above has them all."""
    harmless = [call for call in _CALLS if _name(call.split()) not in {*_table()} - _BY_TEMPLATES]
    for words, _, ran, said in _said([c for c in harmless if "rename" not in c], tmp_path):
        assert not ran, (words, said)
    quick = (
        "build twice --dry-run",
        "cache explain twice",
        "bench twice --dry-run",
        "compile-commands",
    )
    for words, _, ran, said in _said(quick, tmp_path):
        assert ran, (words, said)


@pytest.mark.parametrize(
    "part",
    [
        "",
        "fictl.toml",
        "kernels",
        "kernels/elementwise",
        "kernels/elementwise/twice",
        "kernels/elementwise/twice/jit.py",
        "kernels/elementwise/_shared.py",
        "conftest.py",
        "tests/conftest.py",
        "kernels/include/tiny/elementwise/twice.cuh",
    ],
)
def test_one_part_that_is_of_another_is_enough(marked, part, monkeypatch):
    project = Project.of(marked)
    _given_away(monkeypatch, marked / part)
    with pytest.raises(SetupError, match=f"{part} belongs to user {_OTHER}") as caught:
        require_trusted.__wrapped__(project)
    assert f"FICTL_SAFE_PROJECTS={marked}" in caught.value.hint


def test_a_link_to_what_is_of_another_is_enough(marked, tmp_path, monkeypatch):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "op.py").touch()
    (marked / "kernels" / "linked").symlink_to(tmp_path / "theirs")
    _given_away(monkeypatch, tmp_path / "theirs" / "op.py")
    with pytest.raises(SetupError, match="belongs to user"):
        require_trusted.__wrapped__(Project.of(marked))


@pytest.mark.parametrize("listed", ["*", "{root}", "{above}", "/nowhere:{root}/"])
def test_who_says_so_runs_it(marked, listed, monkeypatch):
    _given_away(monkeypatch, marked)
    monkeypatch.setenv("FICTL_SAFE_PROJECTS", listed.format(root=marked, above=marked.parent))
    require_trusted.__wrapped__(Project.of(marked))


def test_the_settings_file_may_say_so_and_the_project_may_not(marked, settings_toml, monkeypatch):
    _given_away(monkeypatch, marked)
    own = marked / "fictl.toml"
    own.write_text(own.read_text() + 'safe_projects = "*"\n')
    with pytest.raises(Exception, match="unknown key 'safe_projects'"):
        Project.of(marked)
    own.write_text(own.read_text().replace('safe_projects = "*"\n', ""))
    settings_toml(f'safe_projects = ["{marked}"]\n')
    require_trusted.__wrapped__(Project.of(marked))


@pytest.mark.parametrize(
    ("me", "sudo", "users"),
    [(1000, "", {0, 1000}), (1000, "5", {0, 1000}), (0, "", {0}), (0, "1000", {0, 1000})],
)
def test_root_and_oneself_are_trusted_and_who_called_sudo(me, sudo, users, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: me)
    monkeypatch.setenv("SUDO_UID", sudo)
    assert trusted._trusted_users() == users


def test_what_is_installed_is_trusted_as_python_trusts_it(marked, tmp_path, monkeypatch):
    package = marked / "tiny"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(marked))
    _given_away(monkeypatch, marked)
    require_trusted.__wrapped__(Project.of(marked))
    require_trusted.__wrapped__(Project.shipped())
    assert data_root("kernels")


def test_the_name_of_another_package_is_no_excuse(marked, monkeypatch):
    own = marked / "fictl.toml"
    own.write_text(own.read_text().replace('"tiny"', '"jinja2"'))
    _given_away(monkeypatch, marked)
    with pytest.raises(SetupError, match="belongs to user"):
        require_trusted.__wrapped__(Project.of(marked))


def _given_away(monkeypatch, path: Path) -> None:
    """As if it belonged to another user: also where no root runs the tests."""
    status, given = os.stat, os.stat(path)

    def of(place, look=status):
        info = look(place)
        same = os.path.samestat(info, given)
        return os.stat_result((*info[:4], _OTHER, *info[5:])) if same else info

    monkeypatch.setattr(
        trusted.os, "stat", lambda place, **k: of(place) if not k else status(place, **k)
    )
    monkeypatch.setattr(trusted.os, "lstat", lambda place, **k: of(place, status))
