from __future__ import annotations

from pathlib import Path

from fictl.project import Project
from fictl.scaffold.existing.rename.mentions import mentions


def said(
    root: Path, is_user: bool = True, planned: dict[Path, str | None] | None = None
) -> list[str]:
    found = mentions(Project.at(root), ["twice"], planned or {}, lambda _: is_user)
    return [f"{each.path.relative_to(root)}:{each.line} {each.text}" for each in found]


def test_prose_is_found_by_whole_words(used) -> None:
    found = [each for each in said(used.project.root) if each.startswith("README")]
    assert found == ["README.md:3 Call twice, or elementwise/twice."]


def test_of_code_only_what_uses_the_op(used) -> None:
    root = used.project.root
    (root / "script.py").write_text("twice(1)\n")
    assert "script.py:1 twice(1)" in said(root)
    assert "script.py:1 twice(1)" not in said(root, is_user=False)


def test_what_is_written_anew_counts_as_it_will_be(used) -> None:
    root = used.project.root
    planned = {root / "README.md": "\n\n\nstill twice\n", used.op: None}
    found = said(root, planned=planned)
    assert "README.md:4 still twice" in found
    assert not [each for each in found if each.startswith("kernels/elementwise/twice/op.py")]


def test_hidden_binary_and_made_files_are_passed_by(used) -> None:
    root = used.project.root
    for name in (".git/x.md", "build/x.md", "a.bin"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(b"twice \xff\n" if name == "a.bin" else b"twice\n")
    assert not [each for each in said(root) if each.startswith((".git", "build", "a.bin"))]
