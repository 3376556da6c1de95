"""Runnable: a built solution, callable in either style, whichever style it is written in."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from fictl.runnable.arguments import Arguments
from fictl.runnable.metadata import RunnableMetadata
from fictl.runnable.results import as_tuple, copy_results, unpacked


class Runnable:
    """Takes inputs in the order of the definition, then, in destination-passing style, outputs."""

    def __init__(
        self,
        callable: Callable[..., Any],
        metadata: RunnableMetadata,
        cleaner: Callable[[], None] | None = None,
    ) -> None:
        self._callable = callable
        self._cleaner = cleaner
        self._is_clean = False
        self.metadata = metadata

    @property
    def is_clean(self) -> bool:
        """Tell whether cleanup() was called."""
        return self._is_clean

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the outputs; if outputs are given as well, write to them and return None.

        Without a definition to tell them apart, call it as the solution is written.
        """
        if self.metadata.definition is None and not kwargs:
            return unpacked(self._callable(*args))
        inputs, outputs = self._arguments.split(args, kwargs)
        if outputs:
            return self.call_destination_passing(*inputs, *outputs)
        return self.call_value_returning(*inputs)

    def call_kwargs(self, **kwargs: Any) -> Any:
        """Call by name in the solution's own style; unknown names are ignored.

        KeyError names missing arguments; ValueError if there is no definition.
        """
        arguments = self._arguments
        names = arguments.inputs
        if self.metadata.destination_passing_style:
            names += arguments.outputs
        missing = [name for name in names if name not in kwargs]
        if missing:
            raise KeyError(
                f"{self.metadata.solution_name} is called without {', '.join(missing)}; "
                f"it takes {', '.join(names)}"
            )
        return unpacked(self._callable(*(kwargs[name] for name in names)))

    def call_destination_passing(self, *args: Any, **kwargs: Any) -> None:
        """Call with inputs and outputs; returned results are copied to the outputs."""
        if self.metadata.destination_passing_style and not kwargs:
            self._callable(*args)
            return
        inputs, outputs = self._arguments.split(args, kwargs)
        self._arguments.require_outputs(outputs)
        if self.metadata.destination_passing_style:
            self._callable(*inputs, *outputs)
        else:
            results = as_tuple(self._callable(*inputs))
            copy_results(self._arguments.outputs, results, outputs)

    def call_value_returning(self, *args: Any, **kwargs: Any) -> Any:
        """Call with inputs only; outputs of a destination-passing solution are allocated.

        They are on the device of the first tensor. One output is returned as it is, several as a
        tuple, none as None. ValueError if there is no definition to allocate by.
        """
        if kwargs:
            inputs, outputs = self._arguments.split(args, kwargs)
            if outputs:
                raise TypeError(f"outputs are returned: pass no {self._arguments.outputs[0]}")
            args = tuple(inputs)
        if not self.metadata.destination_passing_style:
            return unpacked(self._callable(*args))
        outputs = self._arguments.allocate(args)
        self._callable(*args, *outputs)
        return unpacked(tuple(outputs))

    def call_dest(self, *args: Any, **kwargs: Any) -> None:
        """Alias of call_destination_passing in the examples of flashinfer_bench."""
        self.call_destination_passing(*args, **kwargs)

    def call_dps(self, *args: Any, **kwargs: Any) -> Any:
        """Alias of call_value_returning in the examples of flashinfer_bench."""
        return self.call_value_returning(*args, **kwargs)

    def cleanup(self) -> None:
        """Release what this process holds; files on disk are a cache that others read, too."""
        if self._is_clean:
            return
        self._is_clean = True
        if self._cleaner is not None:
            self._cleaner()

    def renamed(self, metadata: RunnableMetadata) -> Runnable:
        """The same build under the name of another solution with the same sources."""
        return Runnable(self._callable, metadata, self.cleanup)

    @cached_property
    def _arguments(self) -> Arguments:
        if self.metadata.definition is None:
            raise ValueError(
                f"{self.metadata.solution_name} was built without its definition: "
                "call it with positional arguments, in the style that it is written in"
            )
        return Arguments(self.metadata.definition)
