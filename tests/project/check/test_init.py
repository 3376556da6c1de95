from __future__ import annotations

from fictl.project import Project
from fictl.project.check import check_ops, check_project


def test_an_op_that_keeps_the_layout_has_no_problem(tree) -> None:
    assert check_project(tree.project) == ()


def test_the_shipped_project_keeps_its_own_rules() -> None:
    assert check_project(Project.shipped()) == ()


def test_a_file_that_does_not_parse_is_one_problem_not_one_of_every_rule(tree, problems) -> None:
    tree.write("kernels/elementwise/halve/op.py", "x = 1\ndef halve(:\n")
    assert problems() == [
        "readable kernels/elementwise/halve/op.py:2 not valid Python: invalid syntax"
    ]


def test_a_broken_op_does_not_hide_the_problems_of_others(tree, problems) -> None:
    tree.write("kernels/elementwise/halve/op.py", "def halve(:\n")
    tree.op("norm", "rms")
    (tree.root / "kernels/norm/rms/bench.py").unlink()
    assert "files kernels/norm/rms/bench.py:1 my_kernels/norm/rms lacks bench.py" in problems()


def test_one_op_can_be_checked_alone(tree) -> None:
    broken = tree.op("norm", "rms")
    broken.bench.unlink()
    assert check_ops([tree.op("elementwise", "halve")]) == ()
    assert [problem.path for problem in check_ops([broken])] == [broken.bench]


def test_a_problem_is_data(tree) -> None:
    folder = tree.op("norm", "rms")
    folder.bench.unlink()
    (problem,) = check_ops([folder])
    assert problem.to_dict() == {
        "rule": "files",
        "path": str(folder.bench),
        "line": 1,
        "message": "my_kernels/norm/rms lacks bench.py",
        "fix": "add it: cases()",
    }
