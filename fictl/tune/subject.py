"""The call that candidates are tried on: copies of its arguments, and what the default makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from fictl.case.compare import assert_close
from fictl.case.copies import bytes_of, copied, poisoned_like
from fictl.case.results import as_tuple, named_results
from fictl.op.tactics.tactics import Untuned


class Subject:
    """Making one runs the default once: what it raises is the call's own error."""

    def __init__(self, call: Untuned) -> None:
        self._call = call
        self._template = call.tactics.op.template
        given = copied(call.arguments)
        returned = self.run(given, 0)
        self._arguments = {**call.arguments, **self._allocated(given, as_tuple(returned))}
        self._expected = list(self._results(given, returned))

    @property
    def working_set(self) -> int:
        return bytes_of(self._arguments)

    @property
    def device(self) -> str:
        index = self._call.tactics.device_of(self._call.arguments)
        return "cpu" if index < 0 else f"cuda:{index}"

    def run(self, arguments: Mapping[str, Any], candidate: int) -> Any:
        return self._call.tactics.run(arguments, self._call.candidates[candidate])

    def copy(self) -> dict[str, Any]:
        """The arguments anew, with outputs that nobody has written."""
        made = copied(self._arguments)
        inputs = {self._template.parameter(name) for name in self._template.inputs}
        read = {id(made[name]) for name in inputs & {*made}}
        for name in {*self._template.outputs} & {*made} - inputs:
            # An output may be an input: then it is what the call reads.
            if isinstance(made[name], torch.Tensor) and id(made[name]) not in read:
                made[name] = poisoned_like(made[name])
        return made

    def problem(self, candidate: int) -> str:
        """Why this candidate is none: what it raises, or where its results differ."""
        arguments = self.copy()
        try:
            self._check(arguments, self.run(arguments, candidate))
        except Exception as error:
            return str(error) or repr(error)
        return ""

    def _check(self, arguments: Mapping[str, Any], returned: Any) -> None:
        """Of several right results, one need not be the default's."""
        template = self._template
        if template.judge is not None:
            read = {template.parameter(name) for name in template.inputs}
            results = named_results([*template.outputs], read, arguments, returned)
            template.judge(self._arguments, results)
            return
        actual = self._results(arguments, returned)
        for got, want in zip(actual, self._expected, strict=True):
            assert_close(got, want, "the result", template.tolerances)

    def _allocated(
        self, given: Mapping[str, Any], results: tuple[Any, ...]
    ) -> dict[str, torch.Tensor]:
        """The outputs that a call leaves to the function: every candidate gets them, poisoned."""
        return {
            name: result
            for name, result in zip(self._template.outputs, results, strict=False)
            if name in given and given[name] is None and isinstance(result, torch.Tensor)
        }

    def _results(self, arguments: Mapping[str, Any], returned: Any) -> Iterator[torch.Tensor]:
        """What a call returned, and what it wrote; each once."""
        written = (arguments.get(name) for name in self._call.tactics.op.mutates)
        values = (*as_tuple(returned), *written)
        yield from {id(each): each for each in values if isinstance(each, torch.Tensor)}.values()
