"""Expression: what an op computes, as one line over its arguments."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from fictl.scaffold.new.expression.cute import cute_of
from fictl.scaffold.new.expression.functions import FUNCTIONS
from fictl.scaffold.new.expression.read import calls, function_name, is_reduction, names, read
from fictl.scaffold.new.expression.write import cpp_of, torch_of, triton_of


@dataclass(frozen=True)
class Stage:
    """A reduction over the row, that what comes after it knows by `name`."""

    name: str
    reduction: str
    of: Expression


@dataclass(frozen=True)
class Expression:
    """`text` is Python's; every name in it is an argument, or a stage before it. `tensors` are the
    arguments that have more than one value, as far as they are known.
    """

    text: str
    tensors: tuple[str, ...] = ()

    @cached_property
    def tree(self) -> ast.expr:
        return read(self.text)

    @property
    def names(self) -> tuple[str, ...]:
        return names(self.tree)

    @cached_property
    def has_reductions(self) -> bool:
        return any(is_reduction(node) for node in ast.walk(self.tree))

    @cached_property
    def sums(self) -> bool:
        """True if its result is a sum over a row, which may be small by chance."""
        outer = self.tree
        return isinstance(outer, ast.Call) and function_name(outer) in ("sum", "mean")

    @cached_property
    def is_product(self) -> bool:
        """True for a product of names and numbers only, which loses digits near no value."""
        factors = (ast.Name, ast.Constant, ast.BinOp, ast.Mult, ast.expr_context)
        return all(isinstance(node, factors) for node in ast.walk(self.tree))

    @property
    def headers(self) -> tuple[str, ...]:
        """Those of fictl/device/ that its C++ needs."""
        known = [
            FUNCTIONS[function_name(c)].header for c in calls(self.tree) if not is_reduction(c)
        ]
        powers = (node for node in ast.walk(self.tree) if isinstance(node, ast.Pow))
        return tuple(sorted({*filter(None, known), *("functions" for _ in powers)}))

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        return tuple(self._split[0])

    @cached_property
    def final(self) -> Expression:
        """The expression that is left when every reduction is a name."""
        return self._split[1]

    def torch(self, tensors: Collection[str], keep: bool = True, cast: str = "") -> str:
        """`keep` the last dimension of what is reduced; `cast`, as in `.double()`, of tensors."""
        return torch_of(self.tree, tensors, keep, cast)

    def cpp(self, real: str = "float") -> str:
        return cpp_of(self.tree, real, self.tensors)

    def triton(self) -> str:
        return triton_of(self.tree)

    def cute(self) -> str:
        return cute_of(self.tree)

    @cached_property
    def _split(self) -> tuple[list[Stage], Expression]:
        stages: dict[str, Stage] = {}
        taken = {*self.names}
        tree = _Split(stages, taken, self.tensors).visit(copy.deepcopy(self.tree))
        return [*stages.values()], Expression(ast.unparse(tree), self.tensors)

    def __str__(self) -> str:
        """Return its text, spaced as Python's style guide asks."""
        return ast.unparse(self.tree)


class _Split(ast.NodeTransformer):
    """Innermost first; the same reduction twice is one stage."""

    def __init__(self, stages: dict[str, Stage], taken: set[str], tensors: tuple[str, ...]) -> None:
        self._tensors = tensors
        self._stages = stages
        self._taken = taken

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if not is_reduction(node):
            return node
        text = ast.unparse(node)
        if text not in self._stages:
            reduction = function_name(node)
            name = next(n for n in _names(reduction, node.args[0]) if n not in self._taken)
            self._taken.add(name)
            of = Expression(ast.unparse(node.args[0]), self._tensors)
            stage = Stage(name, reduction, of)
            self._stages[text] = stage
        return ast.Name(self._stages[text].name, ast.Load())


def _names(reduction: str, of: ast.expr) -> Iterator[str]:
    """`mean_square` of mean(x * x), `max_x` of max(x); numbered where that is taken."""
    match of:
        case ast.Name(id=name):
            first = f"{reduction}_{name}"
        case ast.BinOp(op=ast.Mult(), left=ast.Name(id=a), right=ast.Name(id=b)) if a == b:
            first = f"{reduction}_square"
        case ast.Call():
            first = f"{reduction}_{function_name(of)}"
        case _:
            first = f"row_{reduction}"
    yield first
    number = 2
    while True:
        yield f"{first}_{number}"
        number += 1
