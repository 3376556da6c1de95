from __future__ import annotations

import pytest

_OP = "kernels/elementwise/halve"
_INPUTS = '{"input": Tensor(("n",)), "factor": Scalar("float32")}'


def test_every_function_has_a_template_of_its_name(tree, problems) -> None:
    tree.edit(f"{_OP}/trace.py", "halve = ", "halved = ")
    assert problems() == [f"trace {_OP}/trace.py:1 trace.py has no template halve"]


def test_another_kind_of_value_is_no_template(tree, problems) -> None:
    tree.edit(f"{_OP}/trace.py", "TraceTemplate(axes", "dict(axes")
    assert problems() == [f"trace {_OP}/trace.py:1 trace.py has no template halve"]


def test_an_input_that_is_no_parameter_is_a_problem(tree, problems) -> None:
    tree.edit(f"{_OP}/trace.py", '"factor"', '"scale"')
    assert problems() == [
        f"trace {_OP}/trace.py:2 halve: factor is a parameter that trace.py leaves out",
        f"trace {_OP}/trace.py:2 halve: scale is not a parameter",
    ]


@pytest.mark.parametrize("form", ['"{}": {}', "**dict({}={})"])
def test_a_definition_may_call_an_input_otherwise(tree, problems, form: str) -> None:
    entry = form.format("hidden_states", 'Tensor(("n",), param="input")')
    tree.edit(f"{_OP}/trace.py", '"input": Tensor(("n",))', entry)
    assert problems() == []


def test_an_output_whose_size_the_caller_decides_is_an_input_too(tree, problems) -> None:
    tree.edit(f"{_OP}/trace.py", '"factor"', '"out": Tensor(("n",)), "factor"')
    assert problems() == []


def test_an_output_that_must_be_given_is_no_input(tree, problems) -> None:
    tree.edit(f"{_OP}/op.py", "(input, factor, out=None)", "(out, input, factor)")
    assert problems() == []


@pytest.mark.parametrize(
    "parameter",
    ["layout='NHD'", "dtype: torch.dtype | None = None", "most: int | None = None"],
)
def test_what_a_trace_cannot_say_stays_at_its_default(tree, problems, parameter: str) -> None:
    tree.edit(f"{_OP}/op.py", "out=None)", f"out=None, {parameter})")
    assert problems() == []


def test_an_optional_tensor_is_an_input(tree, problems) -> None:
    tree.edit(f"{_OP}/op.py", "out=None)", "out=None, mask: torch.Tensor | None = None)")
    said = "halve: mask is a parameter that trace.py leaves out"
    assert problems() == [f"trace {_OP}/trace.py:2 {said}"]


def test_what_is_written_in_place_is_an_input(tree, problems) -> None:
    tree.edit(f"{_OP}/op.py", 'mutates="out"', 'mutates="input out"')
    assert problems() == []


@pytest.mark.parametrize("name", ["enable_pdl", "backend"])
def test_how_an_op_runs_is_no_input(tree, problems, name: str) -> None:
    tree.edit(f"{_OP}/op.py", "out=None)", f"out=None, {name}=None)")
    assert problems() == []


@pytest.mark.parametrize(
    ("before", "inputs"),
    [
        ("", 'dict(input=Tensor(("n",)), factor=Scalar("float32"))'),
        (f"shared = {_INPUTS}\n", "shared"),
        ('shared = {"input": 1}\n', '{**shared, "factor": 2}'),
        ('shared = {"input": 1}\n', 'shared | {"factor": 2}'),
    ],
)
def test_inputs_may_be_put_together_in_the_file(tree, problems, before: str, inputs: str) -> None:
    tree.edit(f"{_OP}/trace.py", _INPUTS, inputs)
    tree.edit(f"{_OP}/trace.py", "halve = ", f"{before}halve = ")
    assert problems() == []


@pytest.mark.parametrize("module", ["_inputs", "_trace.inputs"])
def test_inputs_may_be_of_a_file_of_the_family(tree, problems, module: str) -> None:
    tree.write(f"kernels/elementwise/{module.replace('.', '/')}.py", f"INPUTS = {_INPUTS}\n")
    tree.edit(f"{_OP}/trace.py", _INPUTS, "{**INPUTS}")
    tree.edit(f"{_OP}/trace.py", "halve = ", f"from ..{module} import INPUTS\nhalve = ")
    assert problems() == []


@pytest.mark.parametrize("words", ['("bias", "causal")', '("bias", *others)'])
def test_what_is_said_to_stay_at_its_default_does(tree, problems, words: str) -> None:
    tree.edit(f"{_OP}/op.py", "out=None)", "out=None, bias: Tensor = None, causal=False)")
    tree.edit(f"{_OP}/trace.py", "halve = ", 'others = ("causal",)\nhalve = ')
    tree.edit(f"{_OP}/trace.py", "inputs=", f"at_default={words}, inputs=")
    assert problems() == []
    tree.edit(f"{_OP}/trace.py", '("bias"', '("biased"')
    assert problems() == [
        f"trace {_OP}/trace.py:3 halve: bias is a parameter that trace.py leaves out",
        f"trace {_OP}/trace.py:3 halve: biased is not a parameter",
    ]


@pytest.mark.parametrize("inputs", ["make()", "[]", "missing", "{name: 1}"])
def test_inputs_that_cannot_be_read_are_a_problem(tree, problems, inputs: str) -> None:
    tree.edit(f"{_OP}/trace.py", _INPUTS, inputs)
    assert problems() == [f"trace {_OP}/trace.py:2 halve: inputs cannot be read"]
