"""Compilation of a pipeline's steps: types are checked, and neighbours are fused."""

from __future__ import annotations

from collections.abc import Sequence

from .fusion import FusionRule, get_default_fusion_rules
from .tensors import TensorType
from .typed_op import Op
from .validity import CompileError, ValidityCheck, get_default_validity_checks

# Replacements of one step by one, which may lead back to where they began.
_MOST_REWRITES = 100


class Compiler:
    """Rules and checks, and their application to steps."""

    def __init__(self) -> None:
        self.fusion_rules: list[FusionRule] = []
        self.validity_checks: list[ValidityCheck] = get_default_validity_checks()
        for rule in get_default_fusion_rules():
            self.register_fusion_rule(rule)

    def register_fusion_rule(self, rule: FusionRule) -> None:
        if not rule.pattern:
            raise CompileError(
                "a fusion rule has an empty pattern, which is everywhere: name steps"
            )
        self.fusion_rules.append(rule)
        self.fusion_rules.sort(key=lambda other: -other.prio)

    def register_validity_check(self, check: ValidityCheck) -> None:
        self.validity_checks.append(check)

    def compile(self, ops: Sequence[Op]) -> list[Op]:
        """Return other steps that compute the same; `ops` stay as they are."""
        if not ops:
            raise CompileError("Cannot compile empty operator list")
        compiled = list(ops)
        _check_types(compiled)
        for check in self.validity_checks:
            check(compiled)
        return self._fuse_all(compiled)

    def _fuse_all(self, ops: list[Op]) -> list[Op]:
        at = rewrites = 0
        while at < len(ops):
            rule = next((r for r in self.fusion_rules if r.matches(_window(ops, at, r))), None)
            if rule is None:
                at += 1
                continue
            window = _window(ops, at, rule)
            ops[at : at + len(window)] = [_fused(rule, window)]
            rewrites += len(window) == 1
            if rewrites > _MOST_REWRITES:
                raise CompileError(
                    f"Fusion does not end: {type(ops[at]).__name__} is replaced again and again; "
                    "give its rule a guard"
                )
            at = max(at - 1, 0)  # With the one before, it may be a window.
        return ops


def compile_pipeline(
    ops: Sequence[Op],
    custom_fusion_rules: Sequence[FusionRule] | None = None,
    custom_validity_checks: Sequence[ValidityCheck] | None = None,
) -> list[Op]:
    """Compile steps by the default rules and checks, and by those that are given."""
    compiler = Compiler()
    for rule in custom_fusion_rules or ():
        compiler.register_fusion_rule(rule)
    for check in custom_validity_checks or ():
        compiler.register_validity_check(check)
    return compiler.compile(ops)


def _check_types(ops: Sequence[Op]) -> None:
    first = ops[0]
    if first.IN not in (TensorType.LOGITS, TensorType.PROBS):
        raise CompileError(
            f"First operator ({type(first).__name__}) cannot accept standard pipeline inputs. "
            f"Expected LOGITS or PROBS, but operator accepts: {first.IN}"
        )
    given: TensorType = first.IN
    for place, op in enumerate(ops):
        if given != op.IN:
            raise CompileError(
                f"Type mismatch at operator {place} ({type(op).__name__}). Expected input type: "
                f"{given}, but operator accepts: {op.IN}. Previous operator output: {given}"
            )
        given = op.OUT


def _window(ops: list[Op], at: int, rule: FusionRule) -> list[Op]:
    return ops[at : at + len(rule.pattern)]


def _fused(rule: FusionRule, window: list[Op]) -> Op:
    """Build the step in a window's place, which takes and gives the same."""
    fused = rule.build(window)
    if (fused.IN, fused.OUT) != (window[0].IN, window[-1].OUT):
        raise CompileError(
            f"A fusion rule replaces {' -> '.join(map(repr, window))} by {fused!r}, which takes or "
            "gives something else"
        )
    return fused
