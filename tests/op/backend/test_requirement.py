"""The seed's three patterns, as they are written there."""

from __future__ import annotations

import inspect
import threading
from typing import Any

import pytest
import torch

from fictl.errors import UsageError
from fictl.op import BackendRefused, backend_requirement, supported_compute_capability

pytestmark = pytest.mark.usefixtures("emulated")
SMALL, LARGE = torch.zeros(2, 64), torch.zeros(2, 512)


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")


@supported_compute_capability([80, 86, 89, 90])
def _cutlass_check(q, k, backend):  # type: ignore[no-untyped-def]
    if q.shape[-1] > 256:
        raise ValueError("CUTLASS: head_dim must be <= 256")
    return True


@supported_compute_capability([75, 80, 86, 89, 90, 100])
def _cudnn_check(q, k, backend):  # type: ignore[no-untyped-def]
    return True


def _heuristic(suitable_backends, q, k, backend):  # type: ignore[no-untyped-def]
    preferred = ["cutlass", "cudnn"] if q.shape[-1] <= 128 else ["cudnn", "cutlass"]
    return [b for b in preferred if b in suitable_backends]


@backend_requirement(
    backend_checks={"cutlass": _cutlass_check, "cudnn": _cudnn_check},
    heuristic_func=_heuristic,
)
def attention(q: Any, k: Any, backend: str = "auto") -> Any:
    if backend == "auto":
        backend = attention.suitable_auto_backends[0]
    return backend


@supported_compute_capability([80, 90])
def _small(q: Any) -> bool:
    return q.shape[-1] <= 256  # type: ignore[no-any-return]


@backend_requirement(common_check=_small)
def single(q: Any) -> Any:
    return q


def test_a_single_backend_is_checked_before_it_runs() -> None:
    assert single(SMALL) is SMALL
    with pytest.raises(BackendRefused, match="single: _small refuses it"):
        single(LARGE)


def test_the_backend_asked_for_is_checked() -> None:
    assert attention(SMALL, SMALL, backend="cutlass") == "cutlass"
    with pytest.raises(ValueError, match=r"'cutlass'.*head_dim must be <= 256"):
        attention(LARGE, SMALL, backend="cutlass")


def test_auto_takes_the_first_that_the_heuristic_prefers() -> None:
    assert [attention(SMALL, SMALL), attention(LARGE, SMALL)] == ["cutlass", "cudnn"]
    assert attention(SMALL, k=SMALL) == "cutlass"


def test_an_unknown_backend_is_named_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"unknown backend 'trt'(.|\n)*cutlass, cudnn or auto"):
        attention(SMALL, SMALL, backend="trt")


def test_skip_check_leaves_the_checks_out() -> None:
    assert attention(LARGE, SMALL, backend="cutlass", skip_check=True) == "cutlass"
    assert single(LARGE, skip_check=True) is LARGE


def test_the_questions_of_the_seed_are_answered() -> None:
    assert attention.is_backend_supported("cutlass")
    assert not attention.is_backend_supported("cutlass", cc=100)
    assert attention.is_compute_capability_supported(100)
    assert not attention.is_compute_capability_supported("12.0a")
    assert (attention.has_backend("cudnn"), attention.has_backend("trt")) == (True, False)
    assert (attention.has_backend_choices(), single.has_backend_choices()) == (True, False)


@pytest.mark.parametrize("words", [("cutlass",), ("cutlass", 90), ("trt", "9.0a"), ("auto",)])
def test_of_a_backend_where_there_are_none_to_choose_from_no_answer_is_given(words) -> None:
    # As the decorators of FlashInfer: False would mean that another one does it.
    with pytest.raises(ValueError, match="single has no choice of backends"):
        single.is_backend_supported(*words)
    assert single.has_backend(words[0]) is False


def test_of_architectures_where_none_are_declared_no_answer_is_given() -> None:
    @backend_requirement(common_check=lambda q: True)
    def undeclared(q):
        return q

    with pytest.raises(ValueError, match="undeclared declares no architectures"):
        undeclared.is_compute_capability_supported(90)


def test_the_signature_is_the_functions_own() -> None:
    assert str(inspect.signature(attention)).startswith("(q: 'Any', k: 'Any', backend: 'str' = 'a")


def test_nothing_is_left_on_the_function_after_a_call() -> None:
    attention(SMALL, SMALL)
    assert len(attention.suitable_auto_backends) == 0
    with pytest.raises(IndexError, match="no call of attention"):
        attention.suitable_auto_backends[0]


def test_a_nested_call_restores_what_the_outer_one_was_offered() -> None:
    seen = []

    @backend_requirement({"a": _cudnn_check, "b": _cutlass_check})
    def outer(q: Any, k: Any, backend: str = "auto") -> None:
        seen.append(list(outer.suitable_auto_backends))
        if q.shape[-1] <= 256:
            outer(LARGE, k)
        seen.append(list(outer.suitable_auto_backends))

    outer(SMALL, SMALL)
    assert seen == [["a", "b"], ["a"], ["a"], ["a", "b"]]


def test_threads_see_their_own_calls() -> None:
    barrier = threading.Barrier(2, timeout=20)
    seen: dict[int, list[str]] = {}

    @backend_requirement({"a": _cudnn_check, "b": _cutlass_check})
    def both(q: Any, k: Any, backend: str = "auto") -> None:
        barrier.wait()
        seen[q.shape[-1]] = list(both.suitable_auto_backends)

    threads = [threading.Thread(target=both, args=(q, q)) for q in (SMALL, LARGE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {64: ["a", "b"], 512: ["a"]}


def test_every_shape_is_checked_where_there_is_no_trace() -> None:
    assert [attention(torch.zeros(1, d), SMALL) for d in (1, 512, 1)] == [
        "cutlass",
        "cudnn",
        "cutlass",
    ]


def test_it_is_traced_whole() -> None:
    compiled = torch.compile(
        lambda q: (q * 2, attention(q, q)), fullgraph=True, backend="eager", dynamic=False
    )
    assert [compiled(SMALL)[1], compiled(LARGE)[1]] == ["cutlass", "cudnn"]


def test_a_check_that_forgets_to_return_is_named() -> None:
    @backend_requirement(common_check=lambda q: None)
    def forgetful(q: Any) -> None: ...

    with pytest.raises(UsageError, match="returned None"):
        forgetful(SMALL)


def test_a_check_of_what_the_function_does_not_take_is_refused() -> None:
    with pytest.raises(UsageError, match="takes 'w', scale does not"):

        @backend_requirement(common_check=lambda w: True)
        def scale(q: Any) -> None: ...


def test_parameters_are_written_out() -> None:
    with pytest.raises(UsageError, match="write out the parameters"):

        @backend_requirement()
        def anything(*args: Any) -> None: ...


def test_a_tensor_on_the_cpu_is_refused_in_the_words_of_every_op(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("FICTL_DEVICE")
    with pytest.raises(ValueError, match=r"argument 'q' is on cpu.*CUDA"):
        single(torch.zeros(3, 3))
