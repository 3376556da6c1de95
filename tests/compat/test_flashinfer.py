"""FlashInfer's API: our functions are found under its names, and called as it is called."""

from __future__ import annotations

import inspect
import json
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

import fictl.ops
from fictl.compat import flashinfer
from fictl.compat.flashinfer._names import PACKAGE, TOP
from fictl.project import Project
from fictl.project.discover import functions
from fictl.project.shared import shared

# Of the wheel of 0.7.2: module -> function -> [[parameter, its default's text or null], …], with a
# third "*" where it is given by name only. A class has such a list for each of its methods.
THEIRS: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("flashinfer_0.7.2.json").read_text(encoding="utf-8")
)
OURS = {declaration.name for _, declaration in functions(Project.shipped())}
OURS |= {name for _, _, name in shared(Project.shipped())}
ALL = [(module, name) for module, names in THEIRS.items() for name in names if name in OURS]
BOTH = [(module, name) for module, name in ALL if isinstance(THEIRS[module][name], list)]
METHODS = [
    (module, name, method)
    for module, name in ALL
    if isinstance(THEIRS[module][name], dict)
    for method in THEIRS[module][name]
]
# Its default names a library that FlashInfer brings.
BACKEND = "backend"
# Arguments of run() that FlashInfer takes as *args.
BY_ARGS = {"scale_q", "scale_k", "scale_v"}


@pytest.mark.parametrize(("module", "name"), ALL, ids=[name for _, name in ALL])
def test_a_function_is_found_where_flashinfer_has_it(module: str, name: str) -> None:
    ours = getattr(fictl.ops, name)
    if name in dir(flashinfer):
        assert getattr(flashinfer, name) is ours
    assert getattr(attrgetter(module)(flashinfer) if module != TOP else flashinfer, name) is ours
    assert getattr(import_module(f"{PACKAGE}.{module}".rstrip(".")), name) is ours


@pytest.mark.parametrize(("module", "name"), BOTH, ids=[name for _, name in BOTH])
def test_a_function_takes_the_arguments_that_flashinfer_s_takes(module: str, name: str) -> None:
    _compare(inspect.signature(getattr(fictl.ops, name)), THEIRS[module][name])


@pytest.mark.parametrize(
    ("module", "name", "method"), METHODS, ids=[".".join(m[1:]) for m in METHODS]
)
def test_a_method_takes_the_arguments_that_flashinfer_s_takes(
    module: str, name: str, method: str
) -> None:
    made = object.__new__(getattr(fictl.ops, name))
    _compare(inspect.signature(getattr(made, method)), THEIRS[module][name][method])


def _compare(signature: inspect.Signature, theirs: list[list[Any]]) -> None:
    """In their order, with their defaults; what is more comes by name only, after theirs."""
    ours = {n: p for n, p in signature.parameters.items() if p.kind is not p.VAR_POSITIONAL}
    kept = {each: _text(ours[each]) for each, *_ in theirs if each in ours and each != BACKEND}
    assert kept == {each: _default(text) for each, text, *_ in theirs if each != BACKEND}
    in_order = [each for each, _, *named in theirs if not named]
    assert [*ours][: len(in_order)] == in_order
    known = {each for each, *_ in theirs} | BY_ARGS
    assert all(p.kind is p.KEYWORD_ONLY for n, p in ours.items() if n not in known)


def _text(parameter: inspect.Parameter) -> object:
    return None if parameter.default is parameter.empty else _default(repr(parameter.default))


def _default(text: str | None) -> object:
    """By value where it has one: 1e4 is 10000.0, an enum's member is its name, and what is not
    said is None."""
    if text is None:
        return None
    if text == "_UNSET":
        return "None"
    try:
        return [float(text)]
    except ValueError:
        return text.strip("<>").removeprefix("built-in function ").split(":")[0]


# What stands in for FlashInfer's own functions that are no ops.
OTHERS = [
    (module, name)
    for module, names in THEIRS.items()
    for name in names
    if name not in OURS
    and module in {*dir(flashinfer)}
    and name in dir(getattr(flashinfer, module))
]


def test_what_stands_in_for_functions_that_are_no_ops_is_there() -> None:
    assert {module for module, _ in OTHERS} == {
        "aot",
        "api_logging",
        "autotune_cache",
        "autotuner",
        "green_ctx",
        "jit",
        "profiler",
        "testing",
        "tllm_enums",
        "trace",
        "utils",
    }
    assert len(OTHERS) > 50


@pytest.mark.parametrize(("module", "name"), OTHERS, ids=[".".join(other) for other in OTHERS])
def test_what_is_no_op_takes_the_same_arguments(module: str, name: str) -> None:
    """In their order; the defaults that FlashInfer has are the same."""
    theirs = THEIRS[module][name]
    ours = inspect.signature(getattr(getattr(flashinfer, module), name)).parameters
    loose = {"supported_ccs": "archs"}  # fictl's decorators take more than a list of numbers.
    assert [*ours][: len(theirs)] == [loose.get(each, each) for each, *_ in theirs]
    for each, text, *_ in theirs:
        if text is not None:
            assert _text(ours[each]) == _default(text)


def test_what_is_no_op_is_fictl_s_own_where_it_is_the_same() -> None:
    import fictl.jit
    import fictl.op
    import fictl.testing
    from fictl.compat.flashinfer.utils import is_sm90a_supported, supported_compute_capability

    assert is_sm90a_supported is fictl.testing.is_sm90a_supported
    assert supported_compute_capability is fictl.op.supported_compute_capability
    assert flashinfer.jit.gen_jit_spec is fictl.jit.gen_jit_spec
    assert flashinfer.utils.BackendSupportedError is fictl.op.BackendRefused


@pytest.mark.parametrize("module", [flashinfer, flashinfer.norm, flashinfer.utils])
def test_a_name_that_is_not_here_is_an_attribute_that_is_missing(module: Any) -> None:
    assert not hasattr(module, "trtllm_something")
    with pytest.raises(AttributeError, match=rf"module '{module.__name__}' has no"):
        _ = module.trtllm_something


def test_a_name_that_is_nearly_right_is_suggested() -> None:
    with pytest.raises(AttributeError, match="did you mean 'rmsnorm'"):
        _ = flashinfer.norm.rmsnrm


def test_a_module_lists_its_own_and_the_top_all() -> None:
    assert "rmsnorm" in dir(flashinfer.norm)
    assert "rmsnorm" not in dir(flashinfer.activation)
    assert {"norm", "rmsnorm", "utils"} <= {*dir(flashinfer)}


def test_a_name_is_looked_for_once() -> None:
    _ = flashinfer.norm.rmsnorm
    assert "rmsnorm" in vars(flashinfer.norm)
