"""Pipelines of logits: what they become, what they compute, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fictl.ops import (
    Compiler,
    FusionRule,
    LogitsPipe,
    LogitsProcessor,
    MinP,
    Op,
    ParameterizedOp,
    ProbsSampleOp,
    ProbsTopKOp,
    Sample,
    Softmax,
    TaggedTensor,
    Temperature,
    TensorType,
    TopK,
    TopP,
    compile_pipeline,
    legalize_processors,
    min_p_sampling_from_probs,
    sampling_from_logits,
    sampling_from_probs,
    softmax,
    top_k_mask_logits,
    top_k_renorm_probs,
    top_k_sampling_from_probs,
    top_k_top_p_sampling_from_probs,
    top_p_renorm_probs,
    top_p_sampling_from_probs,
)

LOGITS, PROBS, INDICES = TensorType.LOGITS, TensorType.PROBS, TensorType.INDICES
SEED = {"seed": 11, "offset": 4}
ROWS, VOCAB = 4, 130


@pytest.fixture
def logits(device: str) -> torch.Tensor:
    return 3 * torch.randn(ROWS, VOCAB, device=device)


@pytest.fixture
def probs(logits: torch.Tensor) -> torch.Tensor:
    return torch.softmax(logits, -1)


def _names(ops: list[Op] | None) -> list[str]:
    return [type(op).__name__ for op in ops or []]


# --- What processors become.


@pytest.mark.parametrize(
    ("processors", "given", "steps", "compiled"),
    [
        ([Temperature(), Softmax()], None, 2, ["FusedTemperatureSoftmaxOp"]),
        ([TopK(), Sample()], PROBS, 2, ["FusedProbsTopKSampleOp"]),
        ([TopK(), Sample()], LOGITS, 2, ["LogitsTopKOp", "LogitsSampleOp"]),
        ([TopP(), Sample()], None, 2, ["FusedProbsTopPSampleOp"]),
        ([MinP(), Sample()], None, 2, ["FusedProbsMinPSampleOp"]),
        ([TopK(), TopP(), Sample()], PROBS, 3, ["FusedProbsTopKTopPSampleOp"]),
        (
            [TopK(), TopP(), MinP(), Sample()],
            PROBS,
            4,
            ["ProbsTopKOp", "TopPOp", "FusedProbsMinPSampleOp"],
        ),
        (
            [Temperature(), TopK(), Softmax(), TopP(), Sample()],
            None,
            5,
            ["TemperatureOp", "LogitsTopKOp", "SoftmaxOp", "FusedProbsTopPSampleOp"],
        ),
        (
            [Temperature(), Softmax(), TopK(joint_topk_topp=True), TopP(), Sample()],
            LOGITS,
            5,
            ["FusedTemperatureSoftmaxOp", "FusedProbsTopKTopPSampleOp"],
        ),
    ],
    ids=str,
)
def test_neighbours_become_one(
    processors: list[LogitsProcessor], given: TensorType | None, steps: int, compiled: list[str]
) -> None:
    pipe = LogitsPipe(processors, input_type=given)
    assert len(pipe.ops) == steps
    assert _names(pipe.compiled_ops) == compiled
    assert pipe.initial_type == pipe.ops[0].IN == pipe.compiled_ops[0].IN
    apart = LogitsPipe(processors, compile=False, input_type=given)
    assert apart.compiled_ops is None
    apart.compile()
    assert _names(apart.compiled_ops) == compiled


def test_a_pipe_shows_what_it_is() -> None:
    pipe = LogitsPipe([TopK(), Sample()], input_type=PROBS)
    assert repr(pipe) == (
        "LogitsPipe([TopK -> Sample], ops=[ProbsTopKOp -> ProbsSampleOp], "
        "compiled_ops=[FusedProbsTopKSampleOp])"
    )
    assert repr(pipe.processors[0]) == "TopK(joint_topk_topp=False)"
    assert repr(pipe.ops[0]) == "ProbsTopKOp(PROBS -> PROBS)"


# --- What they compute: what the functions do.

Function = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
ALIKE: list[tuple[list[LogitsProcessor], TensorType, dict[str, Any], Function]] = [
    ([Temperature()], LOGITS, {"temperature": 0.7}, lambda x, p: x / 0.7),
    ([Softmax()], LOGITS, {}, lambda x, p: softmax(x)),
    ([Temperature(), Softmax()], LOGITS, {"temperature": 2}, lambda x, p: softmax(x, 2.0)),
    ([TopK()], LOGITS, {"top_k": 5}, lambda x, p: top_k_mask_logits(x, 5)),
    ([TopK()], PROBS, {"top_k": 5}, lambda x, p: top_k_renorm_probs(p, 5)),
    ([TopP()], PROBS, {"top_p": 0.6}, lambda x, p: top_p_renorm_probs(p, 0.6)),
    ([Sample()], LOGITS, SEED, lambda x, p: sampling_from_logits(x, **SEED)),
    ([Sample()], PROBS, SEED, lambda x, p: sampling_from_probs(p, **SEED)),
    (
        [TopK(), Sample()],
        PROBS,
        {"top_k": 9, **SEED},
        lambda x, p: top_k_sampling_from_probs(p, 9, **SEED),
    ),
    (
        [TopP(), Sample()],
        PROBS,
        {"top_p": 0.4, **SEED},
        lambda x, p: top_p_sampling_from_probs(p, 0.4, **SEED),
    ),
    (
        [MinP(), Sample()],
        PROBS,
        {"min_p": 0.2, **SEED},
        lambda x, p: min_p_sampling_from_probs(p, 0.2, **SEED),
    ),
    *(
        (
            [TopK(joint_topk_topp=order == "joint"), TopP(), Sample()],
            PROBS,
            {"top_k": 9, "top_p": 0.5, **SEED},
            lambda x, p, order=order: top_k_top_p_sampling_from_probs(
                p, 9, 0.5, filter_apply_order=order, **SEED
            ),
        )
        for order in ("joint", "top_k_first")
    ),
]


@pytest.mark.parametrize(("processors", "given", "numbers", "function"), ALIKE)
def test_a_pipe_computes_what_the_functions_do(
    processors: list[LogitsProcessor],
    given: TensorType,
    numbers: dict[str, Any],
    function: Function,
    logits: torch.Tensor,
    probs: torch.Tensor,
) -> None:
    pipe = LogitsPipe(processors, input_type=given)
    out = pipe(logits if given is LOGITS else probs, **numbers, unknown=1)
    torch.testing.assert_close(out, function(logits, probs), rtol=0, atol=0)
    tagged = TaggedTensor(logits if given is LOGITS else probs, given)
    assert torch.equal(pipe(tagged, **numbers), out)


def test_numbers_of_processors_survive_fusion(logits: torch.Tensor) -> None:
    """A number given with a processor holds, unless the call has another."""
    pipe = LogitsPipe([Temperature(temperature=0.5), Softmax(), TopK(top_k=1), Sample(**SEED)])
    assert _names(pipe.compiled_ops) == ["FusedTemperatureSoftmaxOp", "FusedProbsTopKSampleOp"]
    assert torch.equal(pipe(logits).long(), logits.argmax(-1))
    softened = LogitsPipe([Temperature(temperature=0.5), Softmax()])
    torch.testing.assert_close(softened(logits), softmax(logits, 0.5), rtol=0, atol=0)
    torch.testing.assert_close(softened(logits, temperature=3.0), softmax(logits, 3.0))


def test_a_number_for_each_row(logits: torch.Tensor, probs: torch.Tensor) -> None:
    """Not for each column, where there are as many; in one dimension or in a column."""
    square = logits[:, :ROWS].contiguous()
    temperature = torch.tensor([0.5, 1.0, 2.0, 4.0], device=logits.device)
    expected = square / temperature[:, None]
    for given in (temperature, temperature[:, None]):
        apart = LogitsPipe([Temperature(), Softmax()], compile=False)
        fused = LogitsPipe([Temperature(), Softmax()])
        assert torch.equal(LogitsPipe([Temperature()])(square, temperature=given), expected)
        torch.testing.assert_close(
            apart(square, temperature=given), fused(square, temperature=given)
        )
    top_k = torch.tensor([1, 2, 3, VOCAB], dtype=torch.int32, device=logits.device)
    kept = LogitsPipe([TopK()], input_type=PROBS)(probs, top_k=top_k)
    assert (kept > 0).sum(-1).tolist() == top_k.tolist()
    min_p = torch.tensor([1.0, 0.0, float("nan"), 2.0], device=logits.device)
    kept = LogitsPipe([MinP()])(probs, min_p=min_p)
    assert (kept > 0).sum(-1).tolist() == [1, VOCAB, 1, 1]


def test_min_p_of_rows_of_any_kind(probs: torch.Tensor) -> None:
    probs[0] = 0.0
    probs[1, 5] = float("nan")
    probs[2] = -1.0
    kept = LogitsPipe([MinP()])(probs.half(), min_p=0.3)
    assert kept.dtype == torch.float16
    assert bool((kept[[0, 2]] == 0).all())
    assert float(kept[1, 5]) == 0.0
    torch.testing.assert_close(kept[[1, 3]].float().sum(-1).cpu(), torch.ones(2), rtol=0, atol=2e-3)
    exact = torch.where(probs[3] >= 0.3 * probs[3].max(), probs[3], 0)
    torch.testing.assert_close(kept[3].float(), exact / exact.sum(), rtol=2e-3, atol=1e-3)


def test_compiled_or_not_the_same_tokens_may_be_drawn(probs: torch.Tensor) -> None:
    for processors, numbers in (
        ([TopK(), Sample()], {"top_k": 1}),
        ([TopP(), Sample()], {"top_p": 1e-6}),
        ([MinP(), Sample()], {"min_p": 1.0}),
        ([TopK(), TopP(), Sample()], {"top_k": 1, "top_p": 0.9}),
    ):
        for compiled in (True, False):
            pipe = LogitsPipe(processors, compile=compiled, input_type=PROBS)
            assert torch.equal(pipe(probs, **numbers).long(), probs.argmax(-1))


def test_draws_from_rows_that_requests_share(probs: torch.Tensor) -> None:
    indices = torch.tensor([3, 3, 0], dtype=torch.int32, device=probs.device)
    generator = torch.Generator(probs.device)
    pipe = LogitsPipe([TopK(), Sample()], input_type=PROBS)
    tokens = pipe(probs, top_k=2, indices=indices, generator=generator.manual_seed(3))
    again = top_k_sampling_from_probs(probs, 2, indices, generator=generator.manual_seed(3))
    assert torch.equal(tokens, again)


# --- Tensors and steps.


def test_functions_of_torch_take_tagged_tensors(probs: torch.Tensor) -> None:
    tagged = TaggedTensor.probs(probs)
    assert torch.equal(torch.sum(tagged, dim=-1), probs.sum(-1))
    assert torch.equal(torch.cat([tagged, probs]), torch.cat([probs, probs]))
    assert (tagged.shape, tagged.dtype, tagged.device) == (probs.shape, probs.dtype, probs.device)
    assert (tagged.size(), tagged.size(0)) == (probs.shape, ROWS)
    assert repr(tagged).startswith("TaggedTensor(type=PROBS, shape=torch.Size([4, 130])")
    assert [str(TaggedTensor.logits(probs).type), repr(TaggedTensor.indices(probs).type)] == [
        "LOGITS",
        "TensorType.INDICES",
    ]


class Halve(ParameterizedOp):
    IN = OUT = LOGITS

    def __call__(self, tensor: TaggedTensor, **kwargs: Any) -> TaggedTensor:
        return TaggedTensor(tensor.data / self._get_param("by", kwargs), self.OUT)


class Half(LogitsProcessor):
    def legalize(self, input_type: TensorType) -> list[Op]:
        if input_type is not LOGITS:
            raise ValueError("of logits")
        return [Halve(**self.params), Halve(**self.params)]


def test_a_processor_of_one_s_own_and_a_rule_for_it(logits: torch.Tensor) -> None:
    rule = FusionRule((Halve, Halve), lambda window: True, lambda window: Halve(by=4.0), 200)
    apart = LogitsPipe([Half(by=2.0), Sample()])
    pipe = LogitsPipe([Half(by=2.0), Sample()], custom_fusion_rules=[rule])
    assert _names(apart.compiled_ops) == ["Halve", "Halve", "LogitsSampleOp"]
    assert _names(pipe.compiled_ops) == ["Halve", "LogitsSampleOp"]
    assert torch.equal(pipe(logits, **SEED), apart(logits, **SEED))


def test_rules_of_greater_priority_come_first_and_guards_decide() -> None:
    first = FusionRule((ProbsTopKOp,), lambda w: False, lambda w: w[0], 1000)
    second = FusionRule((ProbsTopKOp, ProbsSampleOp), lambda w: True, lambda w: Drawn(), 11)
    ops = legalize_processors([TopK(), Sample()], PROBS)
    assert _names(compile_pipeline(ops, [second, first])) == ["Drawn"]
    assert _names(ops) == ["ProbsTopKOp", "ProbsSampleOp"]
    compiler = Compiler()
    compiler.register_fusion_rule(first)
    assert compiler.fusion_rules[0] is first


class Drawn(ProbsSampleOp):
    pass
