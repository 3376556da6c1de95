"""What the kinds rowwise and reduction write for expressions that their golden trees do not have."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fictl.project import Project
from fictl.scaffold.new.new_op import draft, plan_op
from fictl.scaffold.new.request import NewOpRequest
from fictl.scaffold.plan.plan import Plan
from fictl.scaffold.plan.write import apply

LOGSUMEXP = "log(sum(exp(x - max(x)))) + max(x)"
SOFTMAX = """\
  const float max_x = row.max([&](float x) { return x; });
  const float sum_exp = row.sum([&](float x) { return device::fast_exp(x - max_x); });
  row.store([&](float x) { return device::fast_exp(x - max_x) * (1.0f / sum_exp); });
"""


def _plan(project: Project, kind: str, expression: str, *inputs: str, dtypes: str = "") -> Plan:
    request = NewOpRequest("my_op", kind=kind, inputs=inputs, expression=expression, dtypes=dtypes)
    return plan_op(draft(project, request), polished=False)


def _kernel(plan: Plan) -> str:
    return next(text for path, text in plan.files.items() if path.suffix == ".cuh" and text)


def test_each_reduction_of_a_row_is_one_statement_after_those_that_it_needs(
    project: Project,
) -> None:
    kernel = _kernel(_plan(project, "rowwise", "exp(x - max(x)) / sum(exp(x - max(x)))", "x:n,d"))
    assert SOFTMAX in kernel


def test_a_reduction_that_needs_another_is_in_the_next_pass(project: Project) -> None:
    kernel = _kernel(_plan(project, "reduction", LOGSUMEXP, "x:n,d"))
    assert "constexpr int kMyOpPasses = 2;" in kernel
    assert kernel.index("row.max(") < kernel.index("row.next_pass();") < kernel.index("row.sum(")


def test_reductions_that_need_no_other_share_a_pass(project: Project) -> None:
    cosine = "sum(x * y) * rsqrt(sum(x * x) * sum(y * y))"
    kernel = _kernel(_plan(project, "reduction", cosine, "x:n,d", "y:n,d"))
    assert "constexpr int kMyOpPasses = 1;" in kernel
    assert "constexpr int kMyOpStages = 3;" in kernel
    assert "next_pass" not in kernel


def test_integers_of_32_bits_are_computed_in_fp64(project: Project) -> None:
    kernel = _kernel(_plan(project, "reduction", "sum(x)", "x:n,d", dtypes="f32 i32"))
    assert "using Real = device::Wide<T>;" in kernel


def test_only_extremes_refuse_rows_without_elements(project: Project) -> None:
    for expression, refuses in (("max(x)", True), ("sum(x)", False)):
        plan = _plan(project, "reduction", expression, "x:n,d")
        binding = next(text for path, text in plan.files.items() if path.name == "binding.cpp")
        assert binding is not None
        assert ("check_not_empty" in binding) == refuses


@pytest.mark.timeout(600)
def test_a_reduction_in_passes_is_right_in_one_piece_and_in_many(
    project: Project, users_cache: None
) -> None:
    apply(_plan(project, "reduction", LOGSUMEXP, "x:n,d"), "new-op my_op")
    command = [sys.executable, "-m", "fictl", "test", "my_op", "--device", "emu"]
    chosen = ["--schedule", "forward", "-k", "pieces or length_of"]
    done = subprocess.run([*command, *chosen], capture_output=True, text=True, cwd=project.root)
    assert done.returncode == 0, done.stdout + done.stderr
