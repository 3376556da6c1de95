"""A signature's arguments as generated files spell them: in Python, in a trace, in C++."""

from __future__ import annotations

from dataclasses import dataclass

from fictl.scaffold.new.signature import Axis, Signature, Tensor


@dataclass(frozen=True)
class Spelling:
    """Lists of items, for `py` and `cpp` to put into lines."""

    signature: Signature

    @property
    def arguments(self) -> list[str]:
        """`input`, `factor`: what a reference is called with."""
        return [
            *(tensor.name for tensor in self.signature.inputs),
            *(scalar.name for scalar in self.signature.scalars),
        ]

    @property
    def reference_parameters(self) -> list[str]:
        return [
            *(f"{tensor.name}: torch.Tensor" for tensor in self.signature.inputs),
            *(f"{scalar.name}: {scalar.type}" for scalar in self.signature.scalars),
        ]

    @property
    def parameters(self) -> list[str]:
        """Parameters of the public function: outputs come last and may be left out."""
        scalars = (
            f"{scalar.name}: {scalar.type}"
            + ("" if scalar.default is None else f" = {scalar.default}")
            for scalar in self.signature.scalars
        )
        return [
            *(f"{tensor.name}: torch.Tensor" for tensor in self.signature.inputs),
            *scalars,
            *(f"{tensor.name}: torch.Tensor | None = None" for tensor in self.signature.outputs),
        ]

    @property
    def views(self) -> list[str]:
        """Parameters of bindings and launchers, the outputs first: `View out`, `double factor`."""
        tensors = (*self.signature.outputs, *self.signature.inputs)
        return [
            *(f"View {tensor.name}" for tensor in tensors),
            *(f"{scalar.cpp} {scalar.name}" for scalar in self.signature.scalars),
        ]

    @property
    def passed(self) -> list[str]:
        """The names of `views`."""
        return [view.rpartition(" ")[2] for view in self.views]

    def axis_role(self, axis: Axis) -> str:
        """Role of an axis in the trace: the first one varies, those that a model fixes are constant."""
        if axis.text:
            return "Expr"
        is_first = axis.name == self.signature.inputs[0].axis_names[0]
        return "Var" if is_first and axis.size is None else "Const"

    @property
    def trace_names(self) -> list[str]:
        """Names that trace.py imports."""
        roles = {self.axis_role(axis) for axis in self.signature.axes}
        scalars = {"Scalar"} if self.signature.scalars else set()
        return sorted({"Tensor", "TraceTemplate"} | roles | scalars)

    @property
    def traced_axes(self) -> list[str]:
        """`"n": Var("…")`, as trace.py declares them."""
        alone = len(self.signature.axes) == 1
        varies = "elements, whatever the shape" if alone else "changes from call to call"
        roles = {"Var": f'Var("{varies}")', "Const": 'Const("fixed by a model")'}
        texts = []
        for axis in self.signature.axes:
            text = roles.get(
                self.axis_role(axis), f'Expr("{axis.text}", "follows from the others")'
            )
            if axis.size is not None:
                text = f'Const("fixed", value={axis.size})'
            texts.append(f'"{axis.name}": {text}')
        return texts

    @property
    def traced_inputs(self) -> list[str]:
        case = self.case
        tensors = [
            _tensor(tensor, like="" if tensor.name == case else case)
            for tensor in self.signature.inputs
        ]
        scalars = [
            f'"{scalar.name}": Scalar("{scalar.dtype}", {scalar.value})'
            for scalar in self.signature.scalars
        ]
        return [*tensors, *scalars]

    @property
    def traced_outputs(self) -> list[str]:
        return [_tensor(tensor, like=self.case) for tensor in self.signature.outputs]

    @property
    def case(self) -> str:
        """The input whose dtype is the case's: the first that has none of its own."""
        inputs = self.signature.inputs
        return next((tensor for tensor in inputs if not tensor.dtype), inputs[0]).name


def shape(tensor: Tensor) -> str:
    """`("n",)`"""
    names = ", ".join(f'"{name}"' for name in tensor.axis_names)
    return f"({names},)" if len(tensor.axes) == 1 else f"({names})"


def _tensor(tensor: Tensor, like: str = "") -> str:
    dtype = f', dtype_from="{like}"' if like else ""
    if tensor.dtype:
        dtype = f', dtype="{tensor.dtype}"'
    return f'"{tensor.name}": Tensor({shape(tensor)}{dtype})'
