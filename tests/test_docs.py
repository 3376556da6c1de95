"""Generated pages are those of the code, links lead somewhere, and shown commands exist."""

from __future__ import annotations

import ast
import os
import re
import runpy
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fictl.cli import COMMANDS, application
from fictl.project import Project
from fictl.project.discover import functions
from fictl.settings import SETTINGS

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES += sorted((ROOT / "skills").glob("*/SKILL.md"))


def _name(page: Path) -> str:
    return page.parent.name if page.name == "SKILL.md" else page.name


def test_generated_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs/generate.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_lead_to_files(page: Path) -> None:
    prose = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    links = re.findall(r"\]\(([^)#:]+)\)", prose)
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_commands_shown_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL))
    shown = set(re.findall(r"(?:^|`|\$\(|\$ )fictl ([a-z][a-z-]*)", code, re.MULTILINE))
    assert shown <= set(COMMANDS)


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_options_shown_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    code = "\n".join(re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL))
    lines = re.findall(r"(?:^|`|\$\(|\$ |&& )fictl ([a-z][^`\n]*)", code, re.MULTILINE)
    assert [line for line in lines if not _options_shown(line) <= _options_there(line)] == []


def _options_shown(line: str) -> set[str]:
    # What follows -- is another program's.
    command = re.split(r" [#|>&;] | && | -- |\)|\"\$\(|  +|\$ ", line)[0]
    return {*re.findall(r"(?<= )(--[a-z][a-z-]*)", command)}


@cache
def _commands() -> Any:
    return application()


def _options_there(line: str) -> set[str]:
    command: Any = _commands()
    for word in line.split():
        if word not in getattr(command, "commands", {}):
            break
        command = command.commands[word]
    named = [{*param.opts, *param.secondary_opts} for param in command.params]
    return {"--help", "--version"}.union(*named)


def settings_there_are() -> set[str]:
    """fictl's own, and those of shipped ops."""
    known = {name for setting in SETTINGS for name in (setting.name, *setting.also)}
    return known.union(*(declared.settings for _, declared in functions(Project.shipped())))


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_settings_named_exist(page: Path) -> None:
    known = settings_there_are()
    defines = {"FICTL_ENABLE_FP8_E8M0", "FICTL_ENABLE_FP4_E2M1", "FICTL_CMAKE", "FICTL_THROW"}
    defines |= {"FICTL_ATTEND_BACKEND", "FICTL_ATTEND_ALGO"}  # of an op made up for the page
    header = ROOT / "kernels/include/fictl/device/profiler.cuh"  # What kernels write, by name.
    defines |= set(re.findall(r"define (FICTL_\w+)\(", header.read_text(encoding="utf-8")))
    defines |= {"FICTL_PROFILE", "FICTL_HOPPER", "FICTL_EMU"}
    named = set(re.findall(r"\bFICTL_[A-Z0-9_]*[A-Z0-9]\b", page.read_text(encoding="utf-8")))
    assert {name for name in named if not name.startswith("FICTL_EXTRA")} <= known | defines


def test_flashinfers_variables_stand_for_what_there_is() -> None:
    table = runpy.run_path(str(ROOT / "docs/counterparts.py"))
    known = settings_there_are()
    here = {theirs: table["counterpart"](theirs) in known for theirs in table["COUNTERPARTS"]}
    assert here == {theirs: not why_none for theirs, why_none in table["COUNTERPARTS"].items()}


README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_says_what_is_missing_without_it_and_what_it_is_not() -> None:
    above, _, below = README.partition("## Try it")
    assert re.search(r"^Without it, (.+\n){1,2}\n", above, re.MULTILINE)
    (said,) = re.findall(r"It is not for .*?\n\n", above, re.DOTALL)
    assert all(word in said for word in ("training", "Windows", "ROCm"))
    assert "about two minutes" in below.partition("\n## ")[0]  # Of set-up, before the demo's one.


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_nothing_is_installed_by_a_name_that_no_index_serves(page: Path) -> None:
    """Until the first release, `pip install fictl` is nothing, or somebody else's. With an extra it asks an
    index for that alone where fictl is installed, which a page for beginners cannot count on.
    """
    if "not yet released" not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"):
        return
    lines = re.findall(r"(?:pip install|pipx run|uvx)(?: [^\s;#`]+)+", page.read_text("utf-8"))
    by_name = [line for line in lines if {"fictl", '"fictl"', "'fictl'"} & {*line.split()}]
    assert [line for line in by_name if "--from" not in line] == []
    if page.name in ("README.md", "index.md", "first-steps.md"):
        assert [line for line in lines if "fictl[" in line] == []


def test_pictures_are_drawn() -> None:
    for picture in re.findall(r"!\[[^]]*\]\(([^)]+\.svg)\)", README):
        assert "<svg" in (ROOT / picture).read_text(encoding="utf-8")


SECTIONS = [
    pytest.param(section, id=section.partition("\n")[0])
    for section in re.split(r"^## ", (ROOT / "docs/api.md").read_text("utf-8"), flags=re.MULTILINE)
    if "```python" in section
]


@pytest.mark.parametrize("section", SECTIONS)
def test_the_snippets_of_a_section_run_and_print_what_it_says(
    section: str, tmp_path: Path, users_cache: None
) -> None:
    """What a snippet prints stands in the block right below it, where `…` is anything."""
    found = re.findall(r"```python\n(.*?)```(?:\n\n```\n(.*?)```)?", section, re.DOTALL)
    script = tmp_path / "snippets.py"
    script.write_text("\n".join(code for code, _ in found), encoding="utf-8")
    environment = {**os.environ, "FICTL_DEVICE": "emu"}
    ran = subprocess.run(
        [sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    said = "".join(text or "…" for _, text in found)
    expected = ".*".join(re.escape(part) for part in said.split("…"))
    assert re.fullmatch(expected, f"{ran.stdout.rstrip()}\n", re.DOTALL), ran.stdout


ARCHITECTURE = ROOT / "docs/architecture.md"


def test_functions_of_the_architecture_page_are_in_their_files() -> None:
    """`name()` in `path`, or a class in it, as the walks have them; a method is Class.method()."""
    text = ARCHITECTURE.read_text(encoding="utf-8").replace("\n   ", " ")
    name = r"`([A-Za-z_][\w.]*)(?:\(\))?` "
    steps = re.findall(rf"{name}(?:and {name})?in `([\w/.-]+\.\w+)`", text)
    assert len(steps) > 20
    missing = [
        f"{path} has no {name}"
        for *names, path in steps
        for name in names
        if name and name not in _defined(ROOT / path)
    ]
    assert missing == []


@cache
def _defined(path: Path) -> set[str]:
    """Functions and classes of a file, methods as Class.method; of C++, words before a `(` and structs."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return set(re.findall(r"\b\w+(?=\s*\()|(?<=struct )\w+", text))
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{each.name}" for each in node.body if hasattr(each, "name")}
    return names


def test_every_package_is_on_the_architecture_page() -> None:
    layers = runpy.run_path(str(ROOT / "tests/test_layers.py"))["LAYERS"]
    text = ARCHITECTURE.read_text(encoding="utf-8")
    packages = {name for layer in layers for name in layer if (ROOT / "fictl" / name).is_dir()}
    assert {name for name in packages if f"`{name}`" not in text} == set()


def _llms() -> Any:
    return runpy.run_path(str(ROOT / "docs" / "llms.py"))


def test_models_get_an_index_of_every_page_with_what_it_is_about() -> None:
    pages = [*_llms()["pages"]()]
    hidden = {"index.md"} | {page.path for page in pages}
    assert {
        path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")
    } <= hidden
    assert [page.path for page in pages if not 20 <= len(page.summary) <= 400] == []
    assert not [page.path for page in pages if "](" in page.summary or "```" in page.summary]


def test_a_built_site_has_each_page_as_it_is_written_and_all_in_one_file(tmp_path: Path) -> None:
    llms = _llms()
    llms["write_into"](tmp_path)
    whole = (tmp_path / "llms-full.txt").read_text(encoding="utf-8")
    for link in re.findall(
        r"\]\(([^)]+\.md)\)", (ROOT / "docs/llms.txt").read_text(encoding="utf-8")
    ):
        assert (tmp_path / link).read_text(encoding="utf-8").strip() in whole
