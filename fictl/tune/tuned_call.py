"""A call on which candidates are tried: copies of its arguments, and the default's results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from fictl.case.compare import assert_close
from fictl.case.copies import bytes_of, copied, poisoned_like
from fictl.case.parameters import input_parameters
from fictl.case.results import as_tuple, named_results
from fictl.op.tactics.tactics import Untuned


class TunedCall:
    """A call with copies of its arguments; the constructor runs the default, which may raise."""

    def __init__(self, call: Untuned) -> None:
        self._call = call
        self._template = call.tactics.op.template
        arguments = copied(call.arguments)
        returned = self.run(arguments, 0)
        self._arguments = {**call.arguments, **self._allocated(arguments, as_tuple(returned))}
        self._expected = list(self._results(arguments, returned))

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
        """Copy the arguments, and poison the outputs that are not also inputs."""
        arguments = copied(self._arguments)
        inputs = input_parameters(self._template)
        read = {id(arguments[name]) for name in inputs & {*arguments}}
        for name in {*self._template.outputs} & {*arguments} - inputs:
            # One tensor may be passed as an input and as an output.
            if isinstance(arguments[name], torch.Tensor) and id(arguments[name]) not in read:
                arguments[name] = poisoned_like(arguments[name])
        return arguments

    def problem(self, candidate: int) -> str:
        """Say why this candidate is refused: its error, or where its results differ; else ''."""
        arguments = self.copy()
        try:
            self._check(arguments, self.run(arguments, candidate))
        except Exception as error:
            return str(error) or repr(error)
        return ""

    def _check(self, arguments: Mapping[str, Any], returned: Any) -> None:
        """Raise unless the trace's judge accepts the results or they are close to the default's."""
        template = self._template
        if template.judge is not None:
            template.judge(self._arguments, named_results(template, arguments, returned))
            return
        actual = self._results(arguments, returned)
        for got, want in zip(actual, self._expected, strict=True):
            assert_close(got, want, "the result", template.tolerances)

    def _allocated(
        self, arguments: Mapping[str, Any], results: tuple[Any, ...]
    ) -> dict[str, torch.Tensor]:
        """Return outputs that the function allocated: candidates get them as poisoned arguments."""
        return {
            name: result
            for name, result in zip(self._template.outputs, results, strict=False)
            if name in arguments and arguments[name] is None and isinstance(result, torch.Tensor)
        }

    def _results(self, arguments: Mapping[str, Any], returned: Any) -> Iterator[torch.Tensor]:
        """Yield the tensors that a call returned or wrote, each once."""
        written = (arguments.get(name) for name in self._call.tactics.op.mutates)
        values = (*as_tuple(returned), *written)
        yield from {id(v): v for v in values if isinstance(v, torch.Tensor)}.values()
