"""What the kind sampling writes for what its golden tree does not have."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.project import Project, folders
from fictl.scaffold.existing.rename import plan_rename
from fictl.scaffold.new.draft import Draft
from fictl.scaffold.new.new_op import draft, plan_op
from fictl.scaffold.new.request import NewOpRequest
from fictl.scaffold.plan.write import apply

SHARPENED = '''
import torch


def sharpened(logits: torch.Tensor, power: float = 2.0) -> torch.Tensor:
    """Draw from sharpened probabilities."""
    return torch.softmax(logits, dim=-1) ** power
'''


def _draft(project: Project, expression: str = "", *inputs: str, reference: str = "") -> Draft:
    example = "sharpened(torch.ones(2, 5))" if reference else ""
    request = NewOpRequest(
        "my_op",
        kind="sampling",
        inputs=inputs,
        expression=expression,
        reference=reference,
        example=example,
    )
    return draft(project, request)


def _written(made: Draft, name: str) -> str:
    files = plan_op(made, polished=False).files
    return next(text for path, text in files.items() if path.name == name and text)


def test_without_an_expression_the_weights_are_the_input(project: Project) -> None:
    made = _draft(project)
    assert made.call == "my_op(probs:rows,cols) -> out:rows:i32 ~ probs"
    assert made.description == "A token of every row, drawn by the weights probs."
    assert "row.draw([&](float probs) { return probs; });" in _written(made, "my_op.cuh")
    assert "    return probs\n" in _written(made, "trace.py")


def test_each_reduction_is_found_before_the_draw(project: Project) -> None:
    kernel = _written(_draft(project, "exp((x - max(x)) / t)", "x:n,v"), "my_op.cuh")
    assert "exp((x - max(x)) / t)" in kernel
    assert kernel.index("row.max(") < kernel.index("row.draw(")
    assert "a row is read twice" in kernel


def test_what_is_as_long_as_a_row_has_no_pitch(project: Project) -> None:
    kernel = _written(_draft(project, "x * prior", "x:n,v", "prior:v"), "my_op.cuh")
    assert "int64_t x_pitch;" in kernel
    assert "prior_pitch" not in kernel


def test_a_torch_function_gives_the_weights(project: Project) -> None:
    Path("ref.py").write_text(SHARPENED, encoding="utf-8")
    made = _draft(project, reference="ref.py:sharpened")
    assert made.call.startswith("my_op(logits:rows,hidden, power:float=2.0) -> out:rows:i32 ~ ")
    trace = _written(made, "trace.py")
    assert "def _weights(logits: torch.Tensor, power: float) -> torch.Tensor:\n" in trace
    assert "torch.softmax(logits, dim=-1) ** power" in trace


@pytest.mark.parametrize("name", ["seed", "indices", "tokens"])
def test_a_name_that_its_files_need_is_refused(name: str, project: Project) -> None:
    with pytest.raises(UsageError, match=f"'{name}' cannot name an argument: kind sampling uses"):
        _draft(project, f"x * {name}", "x:n,v")


def test_a_number_of_rows_is_not_fixed(project: Project) -> None:
    with pytest.raises(UsageError, match="axis n has the size 4, and a token is drawn for each"):
        _draft(project, "x", "x:n=4,v")


def test_in_another_family_it_still_finds_what_ours_has(project: Project) -> None:
    apply(plan_op(_draft(project), polished=False), "new-op my_op")
    (folder,) = folders(project)
    assert folder.family == "sampling"
    renamed = plan_rename(folder, "my_op", "elsewhere")
    kernel = next(t for p, t in renamed.plan.files.items() if p.name == "my_op.cuh" and t)
    assert "#include <fictl/sampling/tiles.cuh>" in kernel
    assert "namespace my_kernels::elsewhere {" in kernel
    assert "namespace sampler = fictl::sampling;" in kernel
    assert "elsewhere::" not in kernel
