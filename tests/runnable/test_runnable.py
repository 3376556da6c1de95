"""A built solution is called in either style, whatever style it is written in."""

from __future__ import annotations

import pytest
import torch

from fictl.runnable import Runnable, RunnableMetadata

X = torch.arange(4.0)


def returning(x, s):
    return x * s


def writing(x, s, y):
    torch.mul(x, s, out=y)


@pytest.fixture
def made(definition):
    def make(function, dps=False, definition=definition, cleaner=None):
        metadata = RunnableMetadata(
            build_type="python",
            definition_name="scaled",
            solution_name="answer",
            destination_passing_style=dps,
            definition=definition,
        )
        return Runnable(function, metadata, cleaner)

    return make


@pytest.fixture(params=[returning, writing])
def either(request, made):
    """One solution in both styles."""
    return made(request.param, dps=request.param is writing)


def test_inputs_alone_give_the_outputs(either):
    for result in (either(X, 2.0), either(x=X, s=2.0), either(X, s=2.0)):
        assert torch.equal(result, X * 2)


def test_inputs_and_outputs_write_the_outputs(either):
    y, z = torch.empty(4), torch.empty(4)
    assert either(X, 2.0, y) is None
    assert either(x=X, s=3.0, y=z) is None
    assert torch.equal(y, X * 2)
    assert torch.equal(z, X * 3)


def test_each_style_by_its_name(either):
    y, z = torch.empty(4), torch.empty(4)
    either.call_destination_passing(X, 2.0, y)
    either.call_dest(x=X, s=2.0, y=z)
    assert torch.equal(y, X * 2)
    assert torch.equal(z, X * 2)
    assert torch.equal(either.call_value_returning(X, 2.0), X * 2)
    assert torch.equal(either.call_dps(x=X, s=2.0), X * 2)


def test_arguments_by_name_are_in_the_order_of_the_definition(made):
    assert made(lambda *args: args).call_kwargs(s=2, x=1) == (1, 2)
    assert made(lambda *args: args, dps=True).call_kwargs(y=3, s=2, x=1) == (1, 2, 3)


def test_call_kwargs_passes_over_names_that_it_does_not_know(made):
    assert made(lambda *args: args).call_kwargs(x=1, s=2, y=3, z=4) == (1, 2)


def test_a_missing_name_is_said(made):
    with pytest.raises(KeyError, match="without s, y; it takes x, s, y"):
        made(writing, dps=True).call_kwargs(x=X)


@pytest.mark.parametrize(
    ("args", "kwargs", "error", "said"),
    [
        ((X,), {}, KeyError, "s missing"),
        ((X, 2.0), {"z": 1}, TypeError, "z: unknown"),
        ((X, 2.0), {"x": X}, TypeError, "x: given twice"),
        ((X, 2.0, X, X), {}, TypeError, "4 arguments"),
    ],
)
def test_wrong_arguments_are_refused(either, args, kwargs, error, said):
    with pytest.raises(error, match=said):
        either(*args, **kwargs)


def test_destination_passing_needs_a_destination(made):
    with pytest.raises(KeyError, match="y missing"):
        made(returning).call_destination_passing(X, 2.0)


def test_value_returning_takes_no_output(made):
    with pytest.raises(TypeError, match="pass no y"):
        made(writing, dps=True).call_value_returning(x=X, s=2.0, y=X)


@pytest.mark.parametrize(("result", "unpacked"), [((), None), ((5,), 5), ((5, 6), (5, 6)), (5, 5)])
def test_an_empty_tuple_is_none_and_a_tuple_of_one_is_that_one(made, result, unpacked):
    runnable = made(lambda *_: result)
    assert runnable(X, 2.0) == unpacked
    assert runnable.call_kwargs(x=X, s=2.0) == unpacked


def test_without_a_definition_only_its_own_style_works(made):
    runnable = made(writing, dps=True, definition=None)
    y = torch.empty(4)
    runnable(X, 2.0, y)
    assert torch.equal(y, X * 2)
    for call in (runnable.call_value_returning, runnable.call_dps):
        with pytest.raises(ValueError, match="without its definition"):
            call(X, 2.0)
    with pytest.raises(ValueError, match="without its definition"):
        runnable.call_kwargs(x=X, s=2.0)


def test_outputs_are_allocated_by_the_definition(made, defined):
    shapes = defined(
        {"x": ["n", "h"]},
        {"y": ["h", "n"], "z": ["twice"], "w": []},
        twice={"type": "expr", "expression": "2 * n"},
    )
    runnable = made(lambda *_: None, dps=True, definition=shapes)
    y, z, w = runnable(torch.empty(3, 5))
    assert (tuple(y.shape), tuple(z.shape), tuple(w.shape)) == ((5, 3), (6,), ())
    assert {y.dtype, z.dtype, w.dtype} == {torch.float32}


def test_outputs_lie_where_the_first_tensor_lies(made):
    runnable = made(lambda *_: None, dps=True)
    assert runnable(torch.empty(4, device="meta"), 2.0).device.type == "meta"


def test_an_input_that_is_written_is_passed_once(made, defined):
    """As ops that work in place are exported: an output bears the name of an input."""

    def in_place(x, s):
        x += 1
        return x, s

    both = defined({"x": ["n"], "s": ["n"]}, {"x": ["n"], "s": ["n"]})
    runnable = made(in_place, definition=both)
    x, s = torch.zeros(2), torch.ones(2)
    first, second = runnable(x=x, s=s)
    assert first is x
    assert second is s
    runnable.call_destination_passing(x, s, x, s)
    assert x.tolist() == [2, 2]


def test_it_is_cleaned_up_once(made):
    calls = []
    runnable = made(returning, cleaner=lambda: calls.append(1))
    assert not runnable.is_clean
    runnable.cleanup()
    runnable.cleanup()
    assert calls == [1]
    assert runnable.is_clean
