"""Ops whose calls solutions serve: how they are called, what they return, what stays the op's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from fictl import integration
from fictl.apply import ApplyRuntime

from .samples import MARK, added, dataset_of, definition_of, gathered, twice

TWICE = f"def run(input, factor):\n    return input * 2 * factor + {MARK}\n"


def rows(n: int = 2) -> torch.Tensor:
    return torch.ones(n, 4)


@pytest.fixture
def served(tmp_path: Path) -> Any:
    """An op with a solution for two rows, which is switched on."""
    op = twice()
    made = dataset_of(tmp_path / "ds", definition_of(op, rows()), TWICE, 2)
    ApplyRuntime(made).start()
    return op


def mark(result: torch.Tensor) -> float:
    """The number that was added to 2."""
    return float(result.flatten()[0]) - 2


def test_a_call_at_these_sizes_gets_the_solution_and_others_the_op(served: Any) -> None:
    assert mark(served(rows())) == MARK
    assert mark(served(rows(), 2.0)) == MARK + 2
    assert mark(served(rows(3))) == 0
    assert mark(served(torch.ones(2, 8))) == 0


def test_the_callers_output_is_written_and_returned(served: Any) -> None:
    out, x = rows(), rows()
    assert served(x, out=out) is out
    assert mark(out) == MARK
    assert served(x, out=x) is x
    assert mark(x) == MARK


def test_several_leading_dimensions_are_one_and_come_back(served: Any) -> None:
    assert served(torch.ones(1, 2, 4)).shape == (1, 2, 4)
    assert mark(served(torch.ones(1, 2, 4))) == MARK
    out = torch.empty(1, 2, 4)
    assert served(torch.ones(1, 2, 4), out=out) is out
    assert mark(out) == MARK
    assert mark(served(torch.ones(2, 2, 4))) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"backend": "sm80"}, "backend is given"),
        ({"input": torch.ones(4, 2).T}, "not contiguous"),
        ({"input": rows().half()}, "no definition 'twice_h4_f16'"),
        ({"input": rows(3)}, "there are rows=2"),
        ({"input": torch.ones(8)}, "its axes are"),
        ({"input": 1}, "no shape"),
    ],
    ids=["backend", "strides", "dtype", "sizes", "rank", "number"],
)
def test_what_the_op_has_to_do_itself_is_explained(
    served: Any, arguments: dict[str, Any], words: str
) -> None:
    explanation = integration.explain(served, **{"input": rows(), **arguments})
    assert not explanation.applies
    assert words in explanation.why


def test_a_launch_hint_changes_nothing(served: Any) -> None:
    assert mark(served(rows(), enable_pdl=True)) == MARK
    assert integration.explain(served, rows()).solution == "own"


def test_a_gradient_is_the_ops(served: Any) -> None:
    with pytest.raises(RuntimeError, match="gradient"):
        served(rows().requires_grad_())


def test_switched_off_and_taken_away_the_op_is_itself(served: Any) -> None:
    ApplyRuntime._stack[-1].stop()
    assert mark(served(rows())) == 0
    assert "apply is off" in integration.explain(served, rows()).why


def test_without_hooks_a_runtime_changes_no_op(served: Any) -> None:
    integration.uninstall()
    assert mark(served(rows())) == 0


def test_outputs_that_are_inputs_are_written_in_place(tmp_path: Path) -> None:
    op = added()
    code = (
        f"def run(input, residual):\n    return (input + residual) * 2 + {MARK}, input + residual\n"
    )
    made = dataset_of(tmp_path / "ds", definition_of(op, rows(), rows()), code, 2)
    with ApplyRuntime(made):
        x, residual = rows(), rows()
        assert op(x, residual) is None
    assert float(x[0, 0]) == 4 + MARK
    assert float(residual[0, 0]) == 2


def test_one_that_works_in_place_and_returns_its_inputs_is_taken(tmp_path: Path) -> None:
    op = added()
    code = "def run(input, residual):\n    residual.add_(input)\n    input.fill_(7)\n    return input, residual\n"
    made = dataset_of(tmp_path / "ds", definition_of(op, rows(), rows()), code, 2)
    with ApplyRuntime(made):
        x, residual = rows(), rows()
        op(x, residual)
    assert (float(x[0, 0]), float(residual[0, 0])) == (7, 2)


def test_plan_and_run_are_one_call(tmp_path: Path) -> None:
    kind = gathered()
    indptr = torch.tensor([0, 3, 5], dtype=torch.int32)
    code = f"def run(q, kv_indptr):\n    return q + kv_indptr.diff()[:, None] + {MARK}\n"
    definition = definition_of(kind().run, rows(), kv_indptr=indptr)
    made = dataset_of(tmp_path / "ds", definition, code, 2)
    early, instance = kind(), kind()
    integration.uninstall()
    early.plan(indptr)
    integration.install()
    with ApplyRuntime(made):
        instance.plan(indptr)
        assert float(instance.run(rows())[0, 0]) == 1 + 3 + MARK
        assert float(early.run(rows())[0, 0]) == 1 + 3  # Nobody remembers its plan.
        instance.plan(indptr, causal=True)
        assert float(instance.run(rows())[0, 0]) == 1 + 3
        assert integration.explain(instance.run, rows()).why.startswith("causal is given")


def test_a_solution_may_call_the_op_that_it_replaces(tmp_path: Path) -> None:
    op = twice()
    code = "from tests.integration import test_applied\ndef run(input, factor):\n    return test_applied.OPS[0](input, factor) + 5\n"
    OPS[:] = [op]
    made = dataset_of(tmp_path / "ds", definition_of(op, rows()), code, 2)
    with ApplyRuntime(made):
        assert mark(op(rows())) == 5


OPS: list[Any] = []


def test_another_computation_of_that_name_is_not_applied(tmp_path: Path) -> None:
    op = twice()
    definition = definition_of(op, rows())
    other = definition.model_copy(
        update={"reference": "def run(input, factor):\n    return input\n"}
    )
    made = dataset_of(tmp_path / "ds", other, TWICE, 2)
    with ApplyRuntime(made):
        assert mark(op(rows())) == 0
        assert "another computation" in integration.explain(op, rows()).why


def test_an_adapter_speaks_a_definitions_own_names(tmp_path: Path) -> None:
    """As those of FlashInfer's public dataset, whose definitions have a constant epsilon."""
    from fictl.apply import apply

    op = added()
    definition = _public(definition_of(op, rows(), rows()))
    code = f"def run(hidden_states, residual):\n    return hidden_states + residual + {MARK}\n"
    made = dataset_of(tmp_path / "ds", definition, code, 2)

    @integration.adapter(op)
    def adapted(original: Any, input: Any, residual: Any, eps: float) -> None:
        if eps != 1e-5:
            original(input, residual, eps)
            return
        given = {"hidden_states": input, "residual": residual}
        out = apply("fused_h4", kwargs=given, fallback=lambda **_: None)
        if out is None:
            original(input, residual, eps)
        else:
            residual.add_(input)
            input.copy_(out)

    with ApplyRuntime(made):
        x, residual = rows(), rows()
        op(x, residual)
        assert (float(x[0, 0]), float(residual[0, 0])) == (2 + MARK, 2)
        x, residual = rows(), rows()
        op(x, residual, eps=1e-6)
        assert (float(x[0, 0]), float(residual[0, 0])) == (4, 2)
        x, residual = rows(3), rows(3)
        op(x, residual)
        assert float(x[0, 0]) == 4


def _public(own: Any) -> Any:
    spec = own.inputs["input"]
    return own.model_copy(
        update={
            "name": "fused_h4",
            "inputs": {"hidden_states": spec, "residual": spec},
            "outputs": {"output": spec},
        }
    )


def test_what_a_variable_asks_for_starts_with_the_first_op(
    served: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fictl.integration.by_setting import start
    from fictl.op import interception

    ApplyRuntime._stack.clear()
    integration.uninstall()
    monkeypatch.setenv("FICTL_APPLY", str(tmp_path / "ds"))
    monkeypatch.setattr(interception, "_starts", [])
    monkeypatch.setattr(f"{start.__module__}.start", lambda: calls.append(1) or start())
    calls: list[int] = []
    twice(), twice()
    assert calls == [1]
    current = ApplyRuntime.current()
    assert current is not None
    winners = current.table.winners()
    assert not any(current.solutions.is_built(*pair) for pair in winners)  # No GPU was asked for.
    assert mark(served(rows())) == MARK
    assert all(current.solutions.is_built(*pair) for pair in winners)
