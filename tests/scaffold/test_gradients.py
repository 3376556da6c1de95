"""What `new-op` writes never returns a tensor that silently has no gradient."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from inspect import isclass, signature
from typing import Any

import golden
import pytest
import torch

from fictl.errors import FictlError
from fictl.project import OpFolder, Project, folders


@pytest.fixture
def folder(kind: str) -> Iterator[OpFolder]:
    """The op of the kind, importable; afterwards it is not, since all are of one project's name."""
    (found,) = folders(Project.at(golden.GOLDEN / kind))
    before = {*sys.modules}
    yield found
    for name in {*sys.modules} - before:
        if name.partition(".")[0] == found.project.package.partition(".")[0]:
            del sys.modules[name]


@pytest.mark.parametrize("kind", golden.KINDS)
def test_each_tensor_that_requires_grad_is_refused_eager_and_compiled(folder: OpFolder) -> None:
    for declared in folder.declarations():
        api: Any = getattr(folder.load("op"), declared.name)
        call = object.__new__(api).run if isclass(api) else api
        parameters = signature(call).parameters
        tensors = [n for n, each in parameters.items() if "Tensor" in str(each.annotation)]
        assert tensors
        for argument in tensors:
            _is_refused(declared.name, call, dict.fromkeys(parameters), argument)


def _is_refused(name: str, call: Any, others: dict[str, Any], argument: str) -> None:
    words = f"{name}: argument '{argument}' requires grad, and {name} has no gradient"
    x = torch.ones(2, 8, requires_grad=True)
    for value in (x, x * 2, torch.nn.Parameter(x)):
        with pytest.raises(FictlError, match=words):
            call(**{**others, argument: value})
    torch.compiler.reset()
    compiled = torch.compile(
        lambda x: call(**{**others, argument: x}), backend="eager", fullgraph=True
    )
    with pytest.raises(RuntimeError, match=words):
        compiled(x)
