"""Writing an expression in another language, with as few parentheses as its author used."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from fictl.errors import UsageError
from fictl.scaffold.new.expression.functions import FUNCTIONS, REDUCTIONS, ExpressionFunction
from fictl.scaffold.new.expression.read import function_name, is_reduction, names

SIGN: Mapping[type[ast.AST], tuple[str, int]] = {
    ast.Add: ("+", 2),
    ast.Sub: ("-", 2),
    ast.Mult: ("*", 3),
    ast.Div: ("/", 3),
    ast.Lt: ("<", 1),
    ast.LtE: ("<=", 1),
    ast.Gt: (">", 1),
    ast.GtE: (">=", 1),
    ast.Eq: ("==", 1),
    ast.NotEq: ("!=", 1),
}
_UNARY, _POWER, _ATOM = 4, 5, 6
_NAMED = (ast.Name, ast.Constant)


@dataclass(frozen=True)
class Language:
    """A target language: its spelling of numbers, calls, powers and reductions over a row."""

    number: Callable[[float], str]
    call: Callable[[ExpressionFunction, list[str], ast.Call], str]
    power: Callable[[str, str, ast.BinOp], tuple[str, int]]
    reduce: Callable[[str, str, bool], str]
    name: Callable[[str], str] = str
    inverse: Callable[[ast.expr], str] = lambda _: ""


def write(tree: ast.expr, language: Language) -> str:
    return _Writer(language).text(tree, 0)


class _Writer:
    """`inside` is how many reductions are around what is being written."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._inside = 0

    def text(self, node: ast.expr, least: int) -> str:
        """Write a node, in parentheses if it binds less tightly than what is around it."""
        written, strength = self._written(node)
        return f"({written})" if strength < least else written

    def _written(self, node: ast.expr) -> tuple[str, int]:
        match node:
            case ast.Constant(value=int() | float() as value):
                return self._language.number(value), _ATOM
            case ast.Name(id=name):
                return self._language.name(name), _ATOM
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self._written(operand)
            case ast.UnaryOp(operand=operand):
                return f"-{self.text(operand, _UNARY)}", _UNARY
            case ast.BinOp(op=ast.Pow()):
                base, exponent = self.text(node.left, 0), self.text(node.right, 0)
                return self._language.power(base, exponent, node)
            case ast.BinOp(op=ast.Div()) if one := self._language.inverse(node):
                product = f"{self.text(node.left, 3)} * ({one} / {self.text(node.right, 4)})"
                return product, 3
            case ast.BinOp(op=op):
                return self._infix(node.left, op, node.right)
            case ast.Compare():
                return self._infix(node.left, node.ops[0], node.comparators[0])
            case ast.Call():
                return self._call(node), _ATOM
        raise AssertionError(ast.dump(node))  # read() knows the same nodes

    def _infix(self, left: ast.expr, op: ast.AST, right: ast.expr) -> tuple[str, int]:
        sign, strength = SIGN[type(op)]
        return f"{self.text(left, strength)} {sign} {self.text(right, strength + 1)}", strength

    def _call(self, call: ast.Call) -> str:
        name = function_name(call)
        if is_reduction(call):
            self._inside += 1
            body = self.text(call.args[0], _ATOM)
            self._inside -= 1
            return self._language.reduce(name, body, self._inside > 0)
        arguments = [self.text(argument, 0) for argument in call.args]
        return self._language.call(FUNCTIONS[name], arguments, call)


def torch_of(tree: ast.expr, tensors: Collection[str], keep: bool, cast: str = "") -> str:
    """`keep` the reduced dimension, where an outermost reduction meets the row again. `cast` goes
    behind every tensor.
    """

    def named(name: str) -> str:
        return f"{name}{cast}" if name in tensors else name

    def has_tensor(node: ast.expr) -> bool:
        return bool({*names(node)} & {*tensors})

    def call(function: ExpressionFunction, arguments: list[str], node: ast.Call) -> str:
        if function.arguments == 2 and sum(map(has_tensor, node.args)) == 1:
            tensor, bound = sorted(zip(node.args, arguments, strict=True), key=_scalar_last)
            side = "min" if function_name(node) == "max" else "max"
            owner = tensor[1] if isinstance(tensor[0], (ast.Name, ast.Call)) else f"({tensor[1]})"
            return f"{owner}.clamp({side}={bound[1]})"
        if function_name(node) == "where" and not has_tensor(node.args[0]):
            condition, one, other = arguments
            return f"({one} if {condition} else {other})"
        if not has_tensor(node):
            raise UsageError(
                f"{ast.unparse(node)!r} has no tensor in it", "pass its value as a scalar instead"
            )
        return function.torch.format(*arguments)

    def _scalar_last(pair: tuple[ast.expr, str]) -> bool:
        return not has_tensor(pair[0])

    def reduce(name: str, body: str, inside: bool) -> str:
        dim = "dim=-1, keepdim=True" if keep or inside else "dim=-1"
        return REDUCTIONS[name].format(body, dim=dim)

    return write(tree, Language(_plain, call, python_power, reduce, named))


def cpp_of(tree: ast.expr, real: str, tensors: Collection[str] = ()) -> str:
    """`real` is the type of everything in it: float, or a type parameter.

    What is the same for all of a tensor's elements divides them by its inverse, found once: a
    division takes ten times as long as a product.
    """

    def number(value: float) -> str:
        if real == "float":
            return f"{float(value)!r}f"
        return f"{real}({float(value)!r})"

    def inverse(node: ast.expr) -> str:
        varies = isinstance(node, ast.BinOp) and {*names(node.left)} & {*tensors}
        constant = isinstance(node, ast.BinOp) and not {*names(node.right)} & {*tensors}
        return number(1.0) if varies and constant else ""

    def power(base: str, exponent: str, node: ast.BinOp) -> tuple[str, int]:
        if isinstance(node.right, ast.Constant) and node.right.value == 2:
            return f"device::square({base})", _ATOM
        return f"pow({base}, {exponent})", _ATOM

    language = Language(number, _formatted("cpp"), power, no_reduction, inverse=inverse)
    return write(tree, language)


def triton_of(tree: ast.expr) -> str:
    def power(base: str, exponent: str, node: ast.BinOp) -> tuple[str, int]:
        square = isinstance(node.right, ast.Constant) and node.right.value == 2
        if square and isinstance(node.left, ast.Name):
            return f"{base} * {base}", SIGN[ast.Mult][1]
        return f"libdevice.pow({base}, {exponent})", _ATOM

    def reduce(name: str, body: str, inside: bool) -> str:
        return f"tl.{name}({body}, axis=0)"

    return write(tree, Language(_plain, _formatted("triton"), power, reduce))


def _formatted(language: str) -> Callable[[ExpressionFunction, list[str], ast.Call], str]:
    def call(function: ExpressionFunction, arguments: list[str], node: ast.Call) -> str:
        text: str = getattr(function, language)
        return text.format(*arguments)

    return call


def _plain(value: float) -> str:
    return repr(value)


def python_power(base: str, exponent: str, node: ast.BinOp) -> tuple[str, int]:
    simple = (ast.Name, ast.Call, ast.Constant)
    left = base if isinstance(node.left, simple) else f"({base})"
    right = exponent if isinstance(node.right, simple) else f"({exponent})"
    tight = isinstance(node.left, _NAMED) and isinstance(node.right, _NAMED)  # as ruff has it
    return f"{left}{'**' if tight else ' ** '}{right}", _POWER


def no_reduction(name: str, body: str, inside: bool) -> str:
    raise AssertionError(f"{name}({body}) is a stage, and no part of an expression in C++")
