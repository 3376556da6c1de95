"""Policies: what each keeps, each with a state of its own, and in bounded memory."""

from __future__ import annotations

import pytest

from fictl.errors import FictlError
from fictl.tracing import (
    KeepAll,
    KeepFirstByAxes,
    KeepFirstByLengths,
    KeepFirstK,
    KeepNone,
    Sample,
    TracingConfig,
    WorkloadEntry,
    policies,
)
from fictl.tracing.policies import POLICIES


def entry(n: int, **lengths: tuple[int, ...]) -> WorkloadEntry:
    return WorkloadEntry("d", {"n": n}, lengths=lengths)


def kept(policy: KeepAll, *calls: WorkloadEntry) -> list[int]:
    for call in calls:
        if policy.wants(call.axes, call.lengths):
            policy.submit(call)
    return [one.axes["n"] for one in policy.entries]


CALLS = [entry(n) for n in (1, 2, 1, 3, 1)]


@pytest.mark.parametrize(
    ("policy", "numbers"),
    [
        (KeepAll(), [1, 2, 1, 3, 1]),
        (KeepNone(), []),
        (KeepFirstK(k=2), [1, 2]),
        (KeepFirstByAxes(), [1, 2, 3]),
        (KeepFirstByAxes(k=2), [1, 2, 1, 3]),
        (Sample(k=5), [1, 2, 1, 3, 1]),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, KeepAll) else None,
)
def test_what_is_kept(policy: KeepAll, numbers: list[int]) -> None:
    assert kept(policy, *CALLS) == numbers
    assert len(policy.drain()) == len(numbers)
    assert policy.entries == []


def test_counts_outlive_a_drain_and_end_with_a_reset() -> None:
    for policy in (KeepFirstK(k=2), KeepFirstByAxes()):
        kept(policy, *CALLS)
        policy.drain()
        assert kept(policy, *CALLS) == []
        policy.reset()
        assert kept(policy, *CALLS) != []


def test_lengths_count_by_their_mean_and_not_by_their_total() -> None:
    policy = KeepFirstByLengths()
    calls = [
        entry(11, kv_indptr=(5, 6)),
        entry(12, kv_indptr=(6, 6)),
        entry(13, kv_indptr=(6, 7)),
        entry(300, kv_indptr=(150, 150)),
        entry(12, kv_indptr=(4, 4, 4)),
    ]
    assert kept(policy, *calls) == [11, 300, 12]


def test_a_sample_is_uniform_and_can_be_repeated() -> None:
    calls = [entry(n) for n in range(1000)]
    samples = [kept(Sample(k=50, seed=seed), *calls) for seed in (1, 1, 2)]
    assert samples[0] == samples[1] != samples[2]
    assert len({*samples[0]}) == 50
    assert 300 < sum(samples[0]) / 50 < 700


def test_sizes_that_never_end_are_no_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policies, "_MOST_KEYS", 10)
    policy = KeepFirstByAxes(k=2)
    kept(policy, *(entry(n) for n in range(100)))
    assert len(policy.counts) == 10
    assert kept(policy, entry(0))[-1] == 0  # Of those that are known a second is kept.


@pytest.mark.parametrize("k", [0, -1])
def test_a_policy_keeps_one_at_least(k: int) -> None:
    for kind in (KeepFirstK, KeepFirstByAxes, KeepFirstByLengths, Sample):
        with pytest.raises(FictlError, match=f"k is {k}"):
            kind(k)


@pytest.mark.parametrize("name", POLICIES)
def test_a_name_makes_a_policy_with_a_state_of_its_own(name: str) -> None:
    config = TracingConfig(filter_policy=name)
    one, other = config.create_filter_policy(), config.create_filter_policy()
    assert type(one) is type(other) is POLICIES[name]
    kept(one, *CALLS)
    assert other.entries == []


def test_a_function_makes_one_with_its_own_arguments() -> None:
    policy = TracingConfig(filter_policy=lambda: KeepFirstByAxes(k=5)).create_filter_policy()
    assert isinstance(policy, KeepFirstByAxes)
    assert policy.k == 5
    config = TracingConfig(filter_policy="keep_first_k", filter_policy_kwargs={"k": 2})
    assert config.create_filter_policy().k == 2  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"filter_policy": "keep_some"}, "no filter policy 'keep_some'"),
        ({"input_dump_policy": "dump_some"}, "no input policy 'dump_some'"),
        ({"filter_policy": "keep_all", "filter_policy_kwargs": {"k": 2}}, "does not take"),
    ],
)
def test_what_there_is_not_is_named(values: dict[str, object], words: str) -> None:
    with pytest.raises(FictlError, match=words):
        TracingConfig(**values)  # type: ignore[arg-type]
