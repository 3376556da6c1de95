from __future__ import annotations

import pytest

_OP = "kernels/elementwise/halve"
_DECLARED = 'mutates="out"'


def _declare(tree, said: str, above: str = "", below: str = "") -> None:
    path = f"{_OP}/op.py"
    tree.edit(path, _DECLARED, f"{_DECLARED}, {said}")
    text = (tree.root / path).read_text()
    at = text.index("@op")
    tree.write(path, f"{text[:at]}{above}{text[at:]}{below}")


def _messages(problems, rule: str) -> list[str]:
    found = [each.removeprefix(f"{rule} {_OP}/op.py:") for each in problems()]
    return [each.partition(" ")[2] for each in found]


@pytest.mark.parametrize("argument", ["backward", "check", "heuristic", "tactics"])
@pytest.mark.parametrize(
    ("value", "above", "below"),
    [
        ("_missing", "", ""),
        ("'_there'", "def _there(): ...\n", ""),
        ("_below", "", "def _below(): ...\n"),
        ("_number", "_number = 3\n", ""),
        ("3", "", ""),
        ("None", "", ""),
        ("_missing.there", "", ""),
    ],
)
def test_what_is_no_function_is_a_problem(tree, problems, argument, value, above, below) -> None:
    _declare(tree, f"{argument}={value}", above, below)
    assert _messages(problems, "functions") == [
        f"halve: {argument}={value} names no function above it"
    ]


@pytest.mark.parametrize(
    ("value", "above"),
    [
        ("_there", "def _there(grad_out): ...\n"),
        ("lambda grad_out: {}", ""),
        ("_imported", "from .trace import _imported\n"),
        ("torch.there", "import torch\n"),
        ("_made", "_made = (lambda grad_out: {})\n"),
        ("_there", "try:\n    from .trace import _there\nexcept ImportError:\n    pass\n"),
        ("_there", "if True:\n    def _there(grad_out): ...\nelse:\n    _there = None\n"),
        ("_there", "from .trace import *\n"),
    ],
)
def test_a_function_is_one_wherever_it_is_from(tree, problems, value, above) -> None:
    _declare(tree, f"backward={value}", above)
    assert problems() == []


def test_the_checks_of_backends_are_functions_too(tree, problems) -> None:
    _declare(tree, 'checks={"sm80": _missing}')
    assert _messages(problems, "functions") == ["halve: checks=_missing names no function above it"]


@pytest.mark.parametrize(
    "parameters",
    ["grad_out", "grad_out, input, factor", "out, needs_grad", "grad_out, *, own=1", "*, factor"],
)
def test_a_backward_takes_what_the_op_has(tree, problems, parameters) -> None:
    _declare(tree, "backward=_back", f"def _back({parameters}): ...\n")
    assert problems() == []


@pytest.mark.parametrize(
    "parameters", ["grad", "grad_out, own", "grad_input", "*, own", "own, a=1"]
)
def test_a_backward_that_takes_something_else_is_a_problem(tree, problems, parameters) -> None:
    _declare(tree, "backward=_back", f"def _back({parameters}): ...\n")
    (message,) = _messages(problems, "backward")
    assert message.startswith("halve: its backward takes '")


def test_an_op_that_writes_its_input_has_no_backward(tree, problems) -> None:
    _declare(tree, "backward=_back", "def _back(grad_out): ...\n")
    tree.edit(f"{_OP}/op.py", _DECLARED, 'mutates="input"')
    message = "halve: it has a backward, and writes its argument 'input'"
    assert message in _messages(problems, "backward")
