from __future__ import annotations

from fictl.case.subject import Subject
from fictl.case.traffic import moved, touched
from fictl.trace import Case, Scalar, Tensor, TraceTemplate, Var

TEMPLATE = TraceTemplate(
    axes={"rows": Var("rows"), "dim": Var("values a row")},
    inputs={
        "input": Tensor(("rows", "dim")),
        "index": Tensor(("rows",), dtype="int32"),
        "bias": Tensor(("dim",), optional=True),
        "factor": Scalar("float32", 2.0),
    },
    outputs={"out": Tensor(("rows", "dim"), dtype="float32")},
    reference=lambda **inputs: inputs["input"],
)
SIZES = {"rows": 4, "dim": 8}


def subject(*mutates: str, template: TraceTemplate = TEMPLATE) -> Subject:
    nothing = lambda inputs: (lambda: None, lambda: None)  # noqa: E731
    return Subject("p/f/m", "f", template, nothing, frozenset({"out"}), mutates)


def test_inputs_are_read_and_outputs_written() -> None:
    assert moved(subject("out"), Case("f", SIZES, "float16")) == 4 * 8 * 2 + 4 * 4 + 4 * 8 * 4


def test_an_optional_input_counts_where_it_is_passed() -> None:
    without, passed = (Case("f", SIZES, "float16", passing) for passing in ((), ("bias",)))
    assert moved(subject("out"), passed) - moved(subject("out"), without) == 8 * 2


def test_what_is_changed_in_place_is_read_and_written() -> None:
    case = Case("f", SIZES, "float16")
    assert moved(subject("out", "index"), case) - moved(subject("out"), case) == 4 * 4


def test_an_output_that_is_an_input_moves_twice_and_takes_its_memory_once() -> None:
    inplace = TraceTemplate(
        axes={"n": Var("elements")},
        inputs={"x": Tensor(("n",))},
        outputs={"x": Tensor(("n",))},
        reference=lambda x: x,
    )
    case = Case("f", {"n": 16}, "float16")
    assert moved(subject("x", template=inplace), case) == 64
    assert touched(subject("x", template=inplace), case) == 32
