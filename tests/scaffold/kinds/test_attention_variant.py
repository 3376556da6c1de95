"""What the kind attention-variant writes for what its golden tree does not have."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import UsageError
from fictl.project import Project
from fictl.scaffold.new.draft import Draft
from fictl.scaffold.new.new_op import draft, plan_op
from fictl.scaffold.new.request import NewOpRequest

INPUTS = ("qs:tokens,h,d", "ks:keys,g,d", "vs:keys,g,d")


def _draft(project: Project, expression: str = "", *inputs: str, scalars: str = "") -> Draft:
    numbers = tuple(scalars.split())
    request = NewOpRequest(
        "my_op", kind="attention-variant", inputs=inputs, scalars=numbers, expression=expression
    )
    return draft(project, request)


def _written(made: Draft, name: str) -> str:
    files = plan_op(made, polished=False).files
    return next(text for path, text in files.items() if path.name == name and text)


def test_without_an_expression_it_is_a_window(project: Project) -> None:
    made = _draft(project)
    assert made.call.endswith(
        "window:int=64) -> out:q_len,heads,head_dim = abs(q_idx - kv_idx) <= window"
    )
    assert made.description == "Attention to keys where abs(q_idx - kv_idx) <= window."


def test_with_the_logit_it_transforms(project: Project) -> None:
    made = _draft(project, "cap * tanh(logit / cap)")
    assert made.description == "Attention whose logits are cap * tanh(logit / cap)."
    kernel = _written(made, "my_op.cuh")
    assert (
        "  __device__ float transform(float logit, const fictl::attention::Place&) const {\n"
        in kernel
    )
    assert "#include <fictl/device/functions.cuh>\n" in kernel
    assert "    logit = cap * torch.tanh(logit / cap)\n" in _written(made, "trace.py")
    launcher = _written(made, "launcher.cu")
    assert "problem.variant.cap = static_cast<float>(cap);" in launcher
    assert "problem.variant.inverse_of_cap = 1.0f / problem.variant.cap;" in launcher


def test_scalars_have_their_types_and_names_in_cpp(project: Project) -> None:
    made = _draft(project, "flag or q_idx < most", scalars="most:int flag:bool=True")
    kernel = _written(made, "my_op.cuh")
    assert "  int most;\n  bool flag;\n" in kernel
    assert "return flag || at.query < most;" in kernel


def test_inputs_have_the_names_that_are_given(project: Project) -> None:
    made = _draft(project, "q_idx >= kv_idx", *INPUTS)
    assert (
        made.call
        == "my_op(qs:tokens,h,d, ks:keys,g,d, vs:keys,g,d) -> out:tokens,h,d = q_idx >= kv_idx"
    )
    assert '"tokens": Var("queries, the last of the keys"),' in _written(made, "trace.py")
    assert "problem.keys = {heads_of<const T>(ks), heads_of<const T>(vs)};" in _written(
        made, "launcher.cu"
    )


def test_a_head_of_one_size_is_built_for_it(project: Project) -> None:
    made = _draft(project, "q_idx >= kv_idx", *(each.replace(",d", ",d=256") for each in INPUTS))
    jit = _written(made, "jit.py")
    assert "HEAD_DIMS = (256,)\n" in jit
    assert "yield module(torch.bfloat16, 256, 64)" in jit


@pytest.mark.parametrize("inputs", [("q:n=4,h,d", *INPUTS[1:]), ("qs:tokens,h,d=76", *INPUTS[1:])])
def test_another_size_is_refused(inputs: tuple[str, ...], project: Project) -> None:
    with pytest.raises(UsageError, match="has the size") as caught:
        _draft(project, "q_idx >= kv_idx", *inputs)
    assert "multiple of 8 up to 256" in caught.value.hint


def test_a_torch_function_is_refused(project: Project) -> None:
    text = "import torch\ndef f(x: torch.Tensor) -> torch.Tensor:\n    return x * 2\n"
    Path("ref.py").write_text(text, encoding="utf-8")
    request = NewOpRequest("my_op", kind="attention-variant", reference="ref.py:f")
    with pytest.raises(UsageError, match=r"has no use for ref\.py:f"):
        draft(project, request)


@pytest.mark.parametrize("name", ["scale", "work", "seen"])
def test_a_name_that_its_files_need_is_refused(name: str, project: Project) -> None:
    with pytest.raises(UsageError, match=f"'{name}' cannot name an argument"):
        _draft(project, f"q_idx < {name}")
