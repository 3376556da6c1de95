"""Score: one line on the scores of attention, a mask or what takes the place of a logit."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fictl.errors import UsageError, shown
from fictl.scaffold.new.expression.expression import Expression
from fictl.scaffold.new.signature import Scalar
from fictl.syntax import parse_expression
from fictl.translate import PythonFunction, Result, Type, Untranslatable, Value, body, identifier

# What its names stand for: in C++, and in torch over scores of [head][query][key].
LOGIT = "logit"
PLACES = {
    "q_idx": ("at.query", "torch.arange(q_len, device={device})[:, None]"),
    "kv_idx": ("at.key", "torch.arange(kv_len, device={device})"),
    "head": ("at.head", "torch.arange(heads, device={device})[:, None, None]"),
    "kv_head": ("at.kv_head", "torch.arange(heads, device={device})[:, None, None] // group"),
    "q_len": ("at.q_len", ""),
    "kv_len": ("at.kv_len", ""),
}
_TYPES = {"float": Type.FLOAT, "int": Type.INT, "bool": Type.BOOL}
_OF_TORCH = (
    "cos",
    "erf",
    "exp",
    "exp2",
    "log",
    "log2",
    "rsqrt",
    "sigmoid",
    "sin",
    "sqrt",
    "tanh",
    "floor",
    "ceil",
    "round",
)
# Of what torch has.
_NOT_MATHS = ("rsqrt", "sigmoid", "round")


@dataclass(frozen=True)
class Score(Expression):
    """`scalars` are those of its names that a caller gives."""

    scalars: tuple[Scalar, ...] = field(default=(), kw_only=True)

    @cached_property
    def tree(self) -> ast.expr:
        try:
            return parse_expression(self.text)
        except (SyntaxError, ValueError) as error:
            reason = getattr(error, "message", error)
            raise UsageError(
                f"'{shown(self.text)}' is not an expression: {reason}",
                "as in abs(q_idx - kv_idx) <= window",
            ) from None

    @property
    def names(self) -> tuple[str, ...]:
        """Names without those of places."""
        return tuple(name for name in self._all_names if name not in {LOGIT, *PLACES})

    @cached_property
    def places(self) -> tuple[str, ...]:
        return tuple(name for name in PLACES if name in self._all_names)

    @cached_property
    def _all_names(self) -> tuple[str, ...]:
        called = {id(node.func) for node in ast.walk(self.tree) if isinstance(node, ast.Call)}
        named = [node for node in ast.walk(self.tree) if isinstance(node, ast.Name)]
        ordered = sorted(named, key=lambda node: (node.lineno, node.col_offset))
        return tuple(dict.fromkeys(node.id for node in ordered if id(node) not in called))

    @property
    def is_mask(self) -> bool:
        """It says which keys a query sees; else it is a logit."""
        return LOGIT not in self._all_names

    @cached_property
    def has_reductions(self) -> bool:
        return False

    @cached_property
    def sums(self) -> bool:
        return False

    @property
    def headers(self) -> tuple[str, ...]:
        return tuple(sorted(self._written[1]))

    def cpp(self, real: str = "float") -> str:
        """A statement's value, where `at` is the place."""
        (line,) = self._written[0]
        return line.removeprefix("return ").removesuffix(";")

    @cached_property
    def fields(self) -> Mapping[str, str]:
        """C++ names of the scalars."""
        taken = frozenset({"at", "keeps", "logit", "output", "transform"})
        return {scalar.name: identifier(scalar.name, taken) for scalar in self.scalars}

    @cached_property
    def _divisor_names(self) -> Mapping[str, str]:
        """Names of the values that the host prepares for divisions in the kernel."""
        starts = {"float": "inverse_of_", "int": "by_"}
        taken = frozenset(self.fields.values())
        return {
            scalar.name: identifier(f"{starts[scalar.type]}{self.fields[scalar.name]}", taken)
            for scalar in self.scalars
            if scalar.type in starts
        }

    @property
    def divisors(self) -> Mapping[str, str]:
        """Fields of the scalars that it divides by, by the scalar's name."""
        text = self.cpp()
        return {k: v for k, v in self._divisor_names.items() if re.search(rf"\b{v}\b", text)}

    @cached_property
    def _written(self) -> tuple[list[str], frozenset[str]]:
        places = {name: Value(text, Type.INT) for name, (text, _) in PLACES.items()}
        given = {
            scalar.name: Value(
                self.fields[scalar.name],
                _TYPES[scalar.type],
                uniform=True,
                divisor=self._divisor_names.get(scalar.name, ""),
            )
            for scalar in self.scalars
        }
        values = {**places, **given, LOGIT: Value(LOGIT, Type.FLOAT, inexact=True)}
        result = Result.CONDITION if self.is_mask else Result.NUMBER
        return body(self._function(), values, result)

    def check(self) -> None:
        """Refuse what cannot be written, or is neither a mask nor a logit."""
        try:
            assert self._written
        except Untranslatable as error:
            raise UsageError(error.message, error.hint) from None
        if self.is_mask and not _is_condition(self.tree):
            raise UsageError(
                f"the expression {self} is neither a condition nor of the logit",
                "a mask compares, as in q_idx >= kv_idx; else say what becomes of the logit, as in "
                "cap * tanh(logit / cap)",
            )

    def _function(self) -> PythonFunction:
        statement = ast.copy_location(ast.Return(self.tree), self.tree)
        return PythonFunction(
            "expression", "--expr", [self.text.strip()], _NO_ARGUMENTS, [statement], _unseen
        )

    def torch(self, tensors: Collection[str], keep: bool = True, cast: str = "") -> str:
        """Over all scores at once; names of places are tensors there."""
        varying = {LOGIT, "q_idx", "kv_idx", "head", "kv_head"}
        tree = _Torch(varying).visit(copy.deepcopy(self.tree))
        return ast.unparse(ast.fix_missing_locations(tree))

    def __str__(self) -> str:
        return ast.unparse(self.tree)


_NO_ARGUMENTS = ast.arguments([], [], None, [], [], None, [])


def _unseen(name: str) -> None:
    """Nothing is around it."""


def _is_condition(tree: ast.expr) -> bool:
    match tree:
        case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr() | ast.BitXor(), right=right):
            return _is_condition(left) and _is_condition(right)
        case ast.IfExp(body=one, orelse=other) | ast.Call(args=[_, one, other]):
            return _is_condition(one) and _is_condition(other)
    return False


class _Torch(ast.NodeTransformer):
    """Python's words for single numbers become torch's for many, where many are in them."""

    def __init__(self, tensors: set[str]) -> None:
        self._tensors = tensors

    def _many(self, *nodes: ast.AST) -> bool:
        named = (inner for node in nodes for inner in ast.walk(node))
        return any(isinstance(name, ast.Name) and name.id in self._tensors for name in named)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        many = self._many(node)
        self.generic_visit(node)
        return _joined(node.op, node.values) if many else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        many = self._many(node)
        self.generic_visit(node)
        if not many or len(node.ops) == 1:
            return node
        sides = [node.left, *node.comparators]
        pairs = zip(sides, node.ops, sides[1:], strict=False)
        return _joined(ast.And(), [ast.Compare(a, [op], [b]) for a, op, b in pairs])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        many = self._many(node)
        self.generic_visit(node)
        if many and isinstance(node.op, ast.Not):
            return ast.UnaryOp(ast.Invert(), node.operand)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        return self._choice(node, [node.test, node.body, node.orelse])

    def _choice(self, node: ast.expr, parts: list[ast.expr]) -> ast.expr:
        many = self._many(parts[0])
        test, one, other = (self.visit(part) for part in parts)
        if many:
            return _call("torch.where", [test, one, other])
        return ast.IfExp(test, one, other)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "where":
            return self._choice(node, node.args)
        many = self._many(node)
        known = [self._many(argument) for argument in node.args]
        self.generic_visit(node)
        if not many and name in _OF_TORCH:
            if name in _NOT_MATHS:
                raise UsageError(
                    f"{ast.unparse(node)!r} is the same for all scores",
                    "pass its value as a scalar instead",
                )
            return _call(f"math.{name}", node.args)
        if not many:
            return node
        if name in ("min", "max"):
            return _extreme(name, node.args, known)
        if name in _OF_TORCH:
            return _call(f"torch.{name}", node.args)
        if name == "int":
            return _call("torch.trunc", node.args)
        if name == "float":
            return ast.BinOp(node.args[0], ast.Mult(), ast.Constant(1.0))
        return node


def _joined(op: ast.boolop, parts: Sequence[ast.expr]) -> ast.expr:
    sign = ast.BitAnd() if isinstance(op, ast.And) else ast.BitOr()
    first, *rest = parts
    for part in rest:
        first = ast.BinOp(first, sign, part)
    return first


def _extreme(name: str, parts: Sequence[ast.expr], many: Sequence[bool]) -> ast.expr:
    """Write min or max; of a tensor and a number it is a clamp."""
    (first, *rest), (is_many, *others) = parts, many
    for part, other in zip(rest, others, strict=True):
        if is_many and other:
            first = _call("torch.minimum" if name == "min" else "torch.maximum", [first, part])
        else:
            tensor, bound = (first, part) if is_many else (part, first)
            side = ast.keyword("max" if name == "min" else "min", bound)
            first = ast.Call(ast.Name("torch.clamp"), [tensor], [side])
        is_many = True
    return first


def _call(name: str, arguments: Sequence[ast.expr]) -> ast.expr:
    return ast.Call(ast.Name(name), [*arguments], [])
